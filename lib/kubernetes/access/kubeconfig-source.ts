import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { raceAbort } from '#lib/time/abort-signal.ts';
import {
  type ClusterCredentials,
  type ClusterSource,
  type ClusterTls,
  type CredentialMaker,
  loadCredentialFile,
} from './cluster-access.ts';
import { type CurrentContext, type KubeconfigEnvironment, readCurrentContext } from './kubeconfig.ts';

/**
 * Accesses the API server of a kubeconfig's current context: certificates, tokens, token files, basic authentication,
 * exec plugins and an HTTP proxy.
 *
 * @throws with the file, the context and the cause
 */
export async function kubeconfigSource(
  path: string,
  environment: KubeconfigEnvironment,
): Promise<ClusterSource> {
  const named = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw new Error(`Cannot use kubeconfig ${path}`, { cause: error });
    }
  };
  const context = await named(readCurrentContext(path));
  const make = await credentialMaker(context, environment);
  const load = async (signal: AbortSignal, areRefused: boolean): Promise<ClusterCredentials> => {
    const { tls, authorization } = await readCredentials(context);
    const made = await make?.(signal, areRefused);
    const { cert = tls.cert, key = tls.key } = made ?? {};
    verifyPem({ ...tls, cert, key }, context);
    return { tls: { ...tls, cert, key }, authorization: authorization ?? made?.authorization };
  };
  const { server, proxy } = context;
  return {
    server,
    proxy,
    load: (signal, areRefused) => named(raceAbort(load(signal, areRefused), signal)),
  };
}

/** Makes the user's credentials; `undefined` where they are in the kubeconfig or in files. */
async function credentialMaker(
  context: CurrentContext,
  environment: KubeconfigEnvironment,
): Promise<CredentialMaker | undefined> {
  const { 'auth-provider': provider } = context.user;
  const exec = context.user.exec ?? provider?.config?.exec;
  if (exec) {
    const { execPlugin } = await import('./exec-plugin.ts');
    return execPlugin(exec, environment);
  }
  if (!provider) return undefined;
  // The official client takes 23 MiB, which no other user needs.
  const { authProvider } = await import('./auth-provider.ts');
  return authProvider(context);
}

async function readCredentials({ cluster, user, directory }: CurrentContext): Promise<ClusterCredentials> {
  const read = async (data: string | null | undefined, file: string | null | undefined) => {
    if (data) return Buffer.from(data, 'base64').toString();
    return file ? await loadCredentialFile(resolve(directory, file)) : undefined;
  };
  const tls = {
    ca: await read(cluster['certificate-authority-data'], cluster['certificate-authority']),
    cert: await read(user['client-certificate-data'], user['client-certificate']),
    key: await read(user['client-key-data'], user['client-key']),
    servername: cluster['tls-server-name'] || undefined,
    rejectUnauthorized: cluster['insecure-skip-tls-verify'] !== true,
  };
  // A token file takes precedence over a token, as in client-go.
  const token = (await read(undefined, user.tokenFile)) ?? user.token;
  if (token) return { tls, authorization: `Bearer ${token.trim()}` };
  const basic = user.username
    ? Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')
    : '';
  return { tls, authorization: basic ? `Basic ${basic}` : undefined };
}

/** Reports invalid PEM at once, with the user, instead of at every later connection. */
function verifyPem({ ca, cert, key }: ClusterTls, { userName }: CurrentContext): void {
  try {
    createSecureContext({ ca, cert, key });
  } catch (error) {
    const what = `cannot use the CA certificates of the cluster, or the client certificate and key of user "${userName}"`;
    throw new Error(what, { cause: error });
  }
}
