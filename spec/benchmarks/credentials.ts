import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';

/** A certificate that a client identifies itself with, and its key, as PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The administrator's certificate and where the API server listens. */
export interface AdminAccess {
  readonly apiServerOrigin: string;
  readonly tls: ClientCertificate;
}

/** What the administrator's kubeconfig says. */
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

/** The aggregator's certificate, by which it asks on behalf of whom it names. */
export async function readFrontProxyCertificate({ folder }: SimulatedSystem): Promise<ClientCertificate> {
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  return { cert: await read('front-proxy-client.crt'), key: await read('front-proxy-client.key') };
}
