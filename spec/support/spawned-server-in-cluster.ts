import { setTimeout as sleep } from 'node:timers/promises';
import type { ScenarioInput } from '#simulator/scenario.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { freePort } from './free-port.ts';
import { type HttpsRequest, type HttpsResponse, requestHttps } from './https-request.ts';
import type { SpawnedProgram } from './spawned-program.ts';
import { SERVER_SOURCE, spawnServer } from './spawned-server.ts';

/** A server in its own process, in a simulated cluster of this process. */
export interface ServerInCluster extends AsyncDisposable {
  readonly cluster: SimulatedCluster;
  readonly server: SpawnedProgram;
  readonly port: number;
  /** Sends a request directly to the server, by default as the cluster's administrator. */
  request(path: string, options?: HttpsRequest): Promise<HttpsResponse>;
  /** Waits up to a minute until a condition holds. */
  until(condition: () => Promise<boolean>): Promise<void>;
}

export interface ServerInClusterOptions {
  readonly flags?: readonly string[];
  /** Flags of Node. */
  readonly nodeFlags?: readonly string[];
  /** A shell command that runs before the shell executes the server: `ulimit -n 40`. */
  readonly shell?: string;
}

const TIMEOUT_MS = 60_000;
const STEP_MS = 50;

/** Starts both; the server may not be ready yet. */
export async function startServerInCluster(
  scenario: ScenarioInput,
  { flags = [], nodeFlags = [], shell }: ServerInClusterOptions = {},
): Promise<ServerInCluster> {
  await using stack = new AsyncDisposableStack();
  const port = await freePort();
  const cluster = stack.use(await startCluster(scenario, { metricsServer: { host: '127.0.0.1', port } }));
  const [command, ...args] = SERVER_SOURCE;
  const node: [string, ...string[]] = [command, ...nodeFlags, ...args];
  const { metricsServerKubeconfig: kubeconfig, kubeletCa, directory: folder } = cluster.files;
  const server = stack.use(
    spawnServer({
      kubeconfig,
      kubeletCa,
      port,
      folder,
      flags,
      program: shell === undefined ? node : ['/bin/sh', '-c', `${shell}; exec "$@"`, 'sh', ...node],
    }),
  );
  const owned = stack.move();
  const { certificatePem: cert, privateKeyPem: key } = cluster.pki.admin;
  return {
    cluster,
    server,
    port,
    request: (path, options = {}) =>
      requestHttps(`https://127.0.0.1:${port}${path}`, { cert, key, rejectUnauthorized: false, ...options }),
    until: async (condition) => {
      const endMs = performance.now() + TIMEOUT_MS;
      while (!(await condition().catch(() => false))) {
        if (performance.now() > endMs) {
          const lastWords = server.output.slice(-10).join('\n');
          throw new Error(`Never true: ${condition}; the server's last words were:\n${lastWords}`);
        }
        await sleep(STEP_MS);
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
