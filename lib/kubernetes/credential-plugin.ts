import { spawn } from 'node:child_process';
import type { KubeConfig, User } from '@kubernetes/client-node';

/** More of what a plugin says of its trouble is cut. */
const MAX_COMPLAINT_LENGTH = 200;

/** What the library's own way of running plugins can be given. */
interface ExecAuthenticator {
  isAuthProvider(user: User): boolean;
  execFn: typeof spawn;
}

/**
 * Has the plugin of a kubeconfig's user killed when a signal aborts: the library runs it for as long as it likes.
 *
 * @param signal asked for at each run
 */
export function endPluginWith(kubeconfig: KubeConfig, signal: () => AbortSignal): void {
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
 * What is told of a plugin that failed: its own words on one line, but never what it wrote as its answer, which may be
 * a credential.
 */
export function pluginFault(error: unknown): Error {
  if (error instanceof SyntaxError) return new Error('what the credential plugin writes is no JSON');
  const words = error instanceof Error ? error.message.replace(/\s+/g, ' ').trim() : String(error);
  return new Error(
    `the credential plugin failed: ${words.slice(0, MAX_COMPLAINT_LENGTH) || 'it says nothing'}`,
  );
}
