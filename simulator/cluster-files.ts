import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterPki } from './access/certificate-authority.ts';

/** Paths of the files for programs beside the cluster. */
export interface ClusterFiles {
  readonly directory: string;
  /** For the administrator, of group system:masters. */
  readonly kubeconfig: string;
  /** For metrics-server, by its service account's token. */
  readonly metricsServerKubeconfig: string;
  readonly serverCa: string;
  readonly clientCa: string;
  readonly frontProxyCa: string;
  /** The certificate with which the API server authenticates to aggregated servers. */
  readonly frontProxyClientCert: string;
  readonly frontProxyClientKey: string;
  readonly kubeletCa: string;
}

/** Writes credentials and CA certificates into a directory, readable by the owner only. */
export async function writeClusterFiles(
  directory: string,
  contents: {
    readonly pki: ClusterPki;
    readonly kubeconfig: string;
    readonly metricsServerKubeconfig: string;
  },
): Promise<ClusterFiles> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { pki, kubeconfig, metricsServerKubeconfig } = contents;
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name);
    await writePrivateFile(path, text);
    return path;
  };
  return {
    directory,
    kubeconfig: await write('admin.kubeconfig', kubeconfig),
    metricsServerKubeconfig: await write('metrics-server.kubeconfig', metricsServerKubeconfig),
    serverCa: await write('server-ca.crt', pki.serverCa.certificatePem),
    clientCa: await write('client-ca.crt', pki.clientCa.certificatePem),
    frontProxyCa: await write('front-proxy-ca.crt', pki.frontProxyCa.certificatePem),
    frontProxyClientCert: await write('front-proxy-client.crt', pki.frontProxy.certificatePem),
    frontProxyClientKey: await write('front-proxy-client.key', pki.frontProxy.privateKeyPem),
    kubeletCa: await write('kubelet-ca.crt', pki.kubeletCa.certificatePem),
  };
}

/** Writes a file that only its owner can read. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600 });
  } catch (cause) {
    throw new Error(`Cannot write ${path}`, { cause });
  }
}

/** Server and credentials of a kubeconfig. */
interface KubeconfigFacts {
  /** `https://HOST:PORT` */
  readonly server: string;
  readonly serverCaPem: string;
  readonly user: string;
  readonly credentials:
    | { readonly token: string }
    | { readonly certificatePem: string; readonly privateKeyPem: string };
}

/** Formats a kubeconfig with all certificates inline, as JSON, which is also YAML. */
export function formatKubeconfig({ server, serverCaPem, user, credentials }: KubeconfigFacts): string {
  const cluster = { server, 'certificate-authority-data': base64(serverCaPem) };
  const identity =
    'token' in credentials
      ? { token: credentials.token }
      : {
          'client-certificate-data': base64(credentials.certificatePem),
          'client-key-data': base64(credentials.privateKeyPem),
        };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'simulated', cluster }],
    users: [{ name: user, user: identity }],
    contexts: [{ name: 'simulated', context: { cluster: 'simulated', user } }],
    'current-context': 'simulated',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
