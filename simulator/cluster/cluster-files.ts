import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterPki } from '../pki/cluster-pki.ts';

/** Where the files lie that programs beside the cluster may need. */
export interface ClusterFiles {
  readonly directory: string;
  /** For the administrator, of group system:masters. */
  readonly kubeconfig: string;
  /** For metrics-server, by its service account's token. */
  readonly metricsServerKubeconfig: string;
  readonly serverCa: string;
  readonly clientCa: string;
  readonly frontProxyCa: string;
  /** With which the API server asks aggregated servers on behalf of others. */
  readonly frontProxyClientCert: string;
  readonly frontProxyClientKey: string;
  readonly kubeletCa: string;
}

/** Writes credentials and CA certificates into a directory, readable by nobody else. */
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

/** Writes a file that its owner alone can read. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600 });
  } catch (cause) {
    throw new Error(`Cannot write ${path}`, { cause });
  }
}
