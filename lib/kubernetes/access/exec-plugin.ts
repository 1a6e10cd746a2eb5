import { spawn } from 'node:child_process';
import * as z from 'zod';
import type { CredentialMaker, MadeCredentials } from './cluster-access.ts';
import type { KubeconfigEnvironment, KubeconfigExec } from './kubeconfig.ts';

/** A longer error output of a plugin is truncated. */
const MAX_COMPLAINT_LENGTH = 200;

/** A credential takes some kilobytes; a plugin that writes more is killed. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

const TEXT = z.string().nullish();
const CREDENTIAL = z.object({
  status: z.object({
    token: TEXT,
    clientCertificateData: TEXT,
    clientKeyData: TEXT,
    expirationTimestamp: TEXT,
  }),
});

interface Credentials extends MadeCredentials {
  /** `undefined` for credentials that are valid until they are refused, as in client-go. */
  readonly expiresAtMs: number | undefined;
}

/**
 * Makes credentials by an exec plugin (client.authentication.k8s.io `ExecCredential`), which runs again once they have
 * expired or were refused. It is killed when the signal aborts.
 */
export function execPlugin(
  exec: KubeconfigExec,
  { clock, environment }: KubeconfigEnvironment,
): CredentialMaker {
  let last: Credentials | undefined;
  return async (signal, areRefused) => {
    const isValid = last && (last.expiresAtMs === undefined || last.expiresAtMs > clock.nowMs());
    if (last && isValid && !areRefused) return last;
    last = undefined; // whatever the plugin returns next
    try {
      last = credentialsIn(await runPlugin(exec, { environment, signal }));
      return last;
    } catch (error) {
      throw pluginError(error);
    }
  };
}

/** @throws an Error that never contains the plugin's output, which may be a credential */
function credentialsIn(text: string): Credentials {
  const credential: unknown = JSON.parse(text);
  const { data } = CREDENTIAL.safeParse(credential ?? { status: {} });
  if (!data) throw new UnreadableCredential('output of the credential plugin has no status');
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = data.status;
  if (!token && !cert)
    throw new Error('output of the credential plugin has neither a token nor a client certificate');
  return {
    ...(cert && { cert }),
    ...(key && { key }),
    authorization: token ? `Bearer ${token}`.trim() : undefined,
    expiresAtMs: expirationTimestamp ? Date.parse(expirationTimestamp) : undefined,
  };
}

class UnreadableCredential extends Error {}

/**
 * Runs a plugin until the signal aborts or its output is too long. Its standard input is empty, and it is killed by
 * SIGKILL; processes that it started may continue, but their output is ignored.
 *
 * @returns its output
 * @throws its error output, when it fails
 */
async function runPlugin(
  { command, args, env }: KubeconfigExec,
  { environment, signal }: { readonly environment: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<string> {
  if (!command) throw new Error('exec has no command');
  const plugin = spawn(command, args ?? [], {
    env: { ...environment, ...Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])) },
    stdio: ['ignore', 'pipe', 'pipe'],
    killSignal: 'SIGKILL',
    signal,
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const [output, complaint]: Buffer[][] = [[], []];
  let bytes = 0;
  const fail = (error: Error) => {
    reject(error);
    plugin.kill('SIGKILL');
    plugin.stdout.destroy();
    plugin.stderr.destroy();
  };
  const collect = (chunks: Buffer[] | undefined) => (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_OUTPUT_BYTES) fail(new Error(`output has more than ${MAX_OUTPUT_BYTES} bytes`));
    else chunks?.push(chunk);
  };
  plugin.stdout.on('data', collect(output));
  plugin.stderr.on('data', collect(complaint));
  plugin.on('error', fail); // also when the signal aborts
  plugin.on('close', (status) => {
    if (status === 0) resolve(Buffer.concat(output ?? []).toString('utf8'));
    else reject(new Error(Buffer.concat(complaint ?? []).toString('utf8')));
  });
  return await promise;
}

/** The plugin's error output on one line, but never its output, which may be a credential. */
function pluginError(error: unknown): Error {
  if (error instanceof UnreadableCredential) return error;
  if (error instanceof SyntaxError) return new Error('output of the credential plugin is not JSON');
  const words = error instanceof Error ? error.message.replace(/\s+/g, ' ').trim() : String(error);
  return new Error(
    `the credential plugin failed: ${words.slice(0, MAX_COMPLAINT_LENGTH) || 'no error output'}`,
  );
}
