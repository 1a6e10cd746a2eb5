import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';

/** A client certificate and its key, as PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The administrator's certificate and the API server's address. */
export interface AdminAccess {
  readonly apiServerOrigin: string;
  readonly tls: ClientCertificate;
}

/** Reads the administrator's kubeconfig. */
export async function readAdminAccess({
  kubeconfig,
}: Pick<SimulatedSystem, 'kubeconfig'>): Promise<AdminAccess> {
  const { clusters, users } = parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig;
  const [[cluster], [user]] = [clusters, users];
  if (!cluster || !user) throw new Error(`Cannot use ${kubeconfig}: no cluster or no user`);
  const decode = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString();
  return {
    apiServerOrigin: cluster.cluster.server,
    tls: {
      cert: decode(user.user['client-certificate-data']),
      key: decode(user.user['client-key-data']),
    },
  };
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly server: string } }[];
  readonly users: readonly { readonly user: Readonly<Record<string, string>> }[];
}

/** Reads the aggregator's client certificate, with which it authenticates proxied requests. */
export async function readFrontProxyCertificate({ folder }: SimulatedSystem): Promise<ClientCertificate> {
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  return { cert: await read('front-proxy-client.crt'), key: await read('front-proxy-client.key') };
}
