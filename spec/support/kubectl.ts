import { dirname, join } from 'node:path';
import { findTool } from './find-tool.ts';
import { type ProgramRun, runToEnd } from './run-to-end.ts';
import { SpawnedProgram } from './spawned-program.ts';

/** The real kubectl, configured for one cluster. */
export class Kubectl {
  readonly #command: string;
  readonly #kubeconfig: string;

  constructor(command: string, kubeconfig: string) {
    this.#command = command;
    this.#kubeconfig = kubeconfig;
  }

  /** Runs kubectl and kills it after `timeoutMs`: some distributions' kubectl waits on other services. */
  run(args: readonly string[], timeoutMs = 20_000): Promise<ProgramRun> {
    // Its own cache, since another cluster may later have the same address.
    const cache = join(dirname(this.#kubeconfig), 'kubectl-cache');
    return runToEnd(
      this.#command,
      ['--kubeconfig', this.#kubeconfig, '--cache-dir', cache, ...args],
      timeoutMs,
    );
  }
}

/** Starts `kubectl proxy` to a server with a bearer token; `url` is its address. */
export async function startKubectlProxy(
  command: string,
  { server, token }: { readonly server: string; readonly token: string },
): Promise<AsyncDisposable & { readonly url: string }> {
  const credentials = [`--server=${server}`, `--token=${token}`, '--insecure-skip-tls-verify'];
  const program = new SpawnedProgram(command, [...credentials, 'proxy', '--port=0'], {
    ...{ name: 'kubectl proxy', env: { ...process.env, KUBECONFIG: '/dev/null' } },
  });
  const line = await program.line(/Starting to serve on /, 20_000);
  return {
    url: `http://${line.replace(/.* /, '')}`,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

/**
 * Finds the real kubectl: the first on `searchPath` that works, or one downloaded once into `cacheFolder`.
 *
 * @throws Error if there is none on the path and none can be downloaded for this platform.
 */
export function findKubectl(searchPath = process.env.PATH ?? '', cacheFolder = '.cache'): Promise<string> {
  return findTool('kubectl', ['version', '--client'], { searchPath, cacheFolder });
}

/** Finds a kubectl that supports `kubectl top --show-swap`, which older versions do not. */
export function findKubectlWithSwap(
  searchPath = process.env.PATH ?? '',
  cacheFolder = '.cache',
): Promise<string> {
  return findTool('kubectl', ['top', 'node', '--show-swap', '--help'], { searchPath, cacheFolder });
}
