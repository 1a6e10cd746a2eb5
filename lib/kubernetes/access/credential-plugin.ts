import { type ChildProcess, spawn } from 'node:child_process';
import type { RequestOptions } from 'node:https';
import { type Cluster, KubeConfig, type User } from '@kubernetes/client-node';
import type { CurrentContext } from './kubeconfig.ts';

/** More of what a plugin says of its trouble is cut. */
const MAX_COMPLAINT_LENGTH = 200;

/** A credential takes some kilobytes; one that writes more is ended, for the library would hold whatever comes. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

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
 * @returns what makes them, or has them from the last time while they are valid and were not refused: those that say nothing of when
 * they expire are good until then, as in client-go. It ends a plugin when its signal aborts
 */
export function credentialPlugin(
  context: CurrentContext,
): (signal: AbortSignal, areRefused: boolean) => Promise<PluginCredentials> {
  const user = {
    name: context.userName,
    exec: context.user.exec,
    authProvider: context.user['auth-provider'],
  } as User;
  let ending = new AbortController().signal;
  const load = () => {
    const loaded = new KubeConfig();
    loaded.loadFromClusterAndUser(clusterOf(context), user);
    runPluginsBy(loaded, (command, args, options) =>
      runPlugin(command, args, { ...options, signal: ending }),
    );
    return loaded;
  };
  let kubeconfig = load();
  return async (signal, areRefused) => {
    ending = signal;
    if (areRefused) kubeconfig = load();
    const options: RequestOptions = {};
    try {
      await kubeconfig.applyToHTTPSOptions(options);
      const credentials = credentialsIn(options);
      if (user.exec && !credentials.cert && credentials.authorization === undefined)
        throw new Error('it gives neither a token nor a client certificate');
      return credentials;
    } catch (error) {
      if (!user.exec) throw error;
      kubeconfig = load(); // the library would go on with what the plugin gave, however useless that is
      throw pluginError(error);
    }
  };
}

function credentialsIn({ cert, key, headers }: RequestOptions): PluginCredentials {
  const header = headers && 'Authorization' in headers ? headers.Authorization : undefined;
  return {
    ...(cert && { cert: String(cert) }),
    ...(key && { key: String(key) }),
    authorization: typeof header === 'string' ? header.trim() : undefined,
  };
}

/** The library refuses plain HTTP to a server whose certificate would be verified; kubectl does not. */
function clusterOf({ clusterName, cluster, server }: CurrentContext): Cluster {
  const skipTLSVerify = cluster['insecure-skip-tls-verify'] === true || server.protocol === 'http:';
  return { name: clusterName, server: cluster.server, skipTLSVerify };
}

type RunPlugin = (command: string, args: readonly string[], options: object) => ChildProcess;

/** Has the plugin of a kubeconfig's user run in a way of our own. */
function runPluginsBy(kubeconfig: KubeConfig, run: RunPlugin): void {
  const authenticators: unknown = Reflect.get(kubeconfig, 'authenticators');
  if (!Array.isArray(authenticators)) return;
  for (const authenticator of authenticators.filter(isExecAuthenticator))
    authenticator.execFn = ((command: string, args: readonly string[] = [], options: object = {}) =>
      run(command, args, options)) as typeof spawn;
}

/**
 * Runs a plugin until the signal aborts or it has written too much; the library would for as long as it likes. It finds its input
 * at the end, and is killed by what it cannot ignore; what it has started itself may go on, but nobody listens to that any more.
 */
function runPlugin(
  command: string,
  args: readonly string[],
  options: { readonly signal: AbortSignal },
): ChildProcess {
  const plugin = spawn(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    killSignal: 'SIGKILL',
  });
  const outputs = [plugin.stdout, plugin.stderr];
  const leave = () => {
    for (const output of outputs) output.destroy();
  };
  plugin.once('error', leave); // when the signal aborts, too
  let bytes = 0;
  for (const output of outputs) {
    output.on('data', (chunk: Buffer | string) => {
      bytes += Buffer.byteLength(chunk);
      if (bytes <= MAX_OUTPUT_BYTES || output.destroyed) return;
      plugin.kill('SIGKILL');
      leave();
      plugin.emit('error', new Error(`it writes more than ${MAX_OUTPUT_BYTES} bytes`));
    });
  }
  return plugin;
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
  if (error instanceof TypeError && !('code' in error))
    return new Error('what the credential plugin writes has no status');
  const words = error instanceof Error ? error.message.replace(/\s+/g, ' ').trim() : String(error);
  return new Error(
    `the credential plugin failed: ${words.slice(0, MAX_COMPLAINT_LENGTH) || 'it says nothing'}`,
  );
}
