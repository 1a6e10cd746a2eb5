import { spawn } from 'node:child_process';
import type { RequestOptions } from 'node:https';
import { type Cluster, KubeConfig, type User } from '@kubernetes/client-node';
import type { CurrentContext } from './kubeconfig.ts';

/** More of what a plugin says of its trouble is cut. */
const MAX_COMPLAINT_LENGTH = 200;

/** What the library's own way of running plugins can be given. */
interface ExecAuthenticator {
  isAuthProvider(user: User): boolean;
  execFn: typeof spawn;
}

/** What a plugin, or a provider of credentials, has made. */
interface PluginCredentials {
  /** PEM of a client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
  /** The value of the Authorization header. */
  readonly authorization: string | undefined;
}

/**
 * Has the library make the credentials of a user that has them made: by an exec plugin, or by a provider that it knows.
 *
 * @returns what makes them, or has them from the last time while they are valid; it ends a plugin when its signal aborts
 */
export function credentialPlugin(
  context: CurrentContext,
): (signal: AbortSignal) => Promise<PluginCredentials> {
  const user = {
    name: context.userName,
    exec: context.user.exec,
    authProvider: context.user['auth-provider'],
  } as User;
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromClusterAndUser(clusterOf(context), user);
  let ending = new AbortController().signal;
  endPluginWith(kubeconfig, () => ending);
  return async (signal) => {
    ending = signal;
    const options: RequestOptions = {};
    try {
      await kubeconfig.applyToHTTPSOptions(options);
    } catch (error) {
      throw user.exec ? pluginError(error) : error;
    }
    const { cert, key, headers } = options;
    const header = headers && 'Authorization' in headers ? headers.Authorization : undefined;
    return {
      ...(cert && { cert: String(cert) }),
      ...(key && { key: String(key) }),
      authorization: typeof header === 'string' ? header.trim() : undefined,
    };
  };
}

/** The library refuses plain HTTP to a server whose certificate would be verified; kubectl does not. */
function clusterOf({ clusterName, cluster, server }: CurrentContext): Cluster {
  const skipTLSVerify = cluster['insecure-skip-tls-verify'] === true || server.protocol === 'http:';
  return { name: clusterName, server: cluster.server, skipTLSVerify };
}

/**
 * Has the plugin of a kubeconfig's user killed when a signal aborts: the library runs it for as long as it likes.
 *
 * @param signal asked for at each run
 */
function endPluginWith(kubeconfig: KubeConfig, signal: () => AbortSignal): void {
  const authenticators: unknown = Reflect.get(kubeconfig, 'authenticators');
  if (!Array.isArray(authenticators)) return;
  for (const authenticator of authenticators.filter(isExecAuthenticator)) {
    authenticator.execFn = ((command: string, args: readonly string[] = [], options: object = {}) =>
      spawn(command, args, { ...options, signal: signal() })) as typeof spawn;
  }
}

function isExecAuthenticator(value: unknown): value is ExecAuthenticator {
  return typeof value === 'object' && value !== null && 'execFn' in value;
}

/**
 * What is told of a plugin that failed: its own words on one line, but never what it wrote as its output, which may be
 * a credential.
 */
function pluginError(error: unknown): Error {
  if (error instanceof SyntaxError) return new Error('what the credential plugin writes is no JSON');
  const words = error instanceof Error ? error.message.replace(/\s+/g, ' ').trim() : String(error);
  return new Error(
    `the credential plugin failed: ${words.slice(0, MAX_COMPLAINT_LENGTH) || 'it says nothing'}`,
  );
}
