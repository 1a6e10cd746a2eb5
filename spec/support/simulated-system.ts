import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#spec/support/free-port.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { spawnServer } from '#spec/support/spawned-server.ts';

/** The cluster to simulate and the server to run in it. */
export interface SimulatedSystemOptions {
  /** The simulator's flags that describe the cluster. */
  readonly cluster: readonly string[];
  /** Flags of the server in addition to those that connect it to the cluster. */
  readonly flags?: readonly string[];
  /** The server's command line before its flags; by default, it runs from source. */
  readonly program?: readonly [string, ...string[]];
  /** Environment variables of the server in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Aborts the start and ends the simulator. */
  readonly signal?: AbortSignal;
}

/** Simulator and server in separate processes, as in a cluster, and the real kubectl. */
export interface SimulatedSystem extends AsyncDisposable {
  readonly simulator: SpawnedProgram;
  readonly server: SpawnedProgram;
  readonly kubectl: Kubectl;
  /** The administrator's. */
  readonly kubeconfig: string;
  /** Contains the cluster's credentials, named as kubeadm names them. */
  readonly folder: string;
  /** Address of the server itself, behind the aggregator. */
  readonly serverOrigin: string;
}

/** Starts a simulated cluster and a server that scrapes it; both end when the result is disposed. */
export async function startSimulatedSystem(options: SimulatedSystemOptions): Promise<SimulatedSystem> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'simulated-system-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, 'admin.kubeconfig');
  const kubectl = new Kubectl(await findKubectl(), kubeconfig);
  const port = await freePort();

  const anyPorts = ['--port', '0', '--kubelet-port', '0'];
  const joined = ['--metrics-server', `127.0.0.1:${port}`, '--files-dir', folder];
  const simulator = stack.use(
    new SpawnedProgram(process.execPath, ['simulator/main.ts', ...anyPorts, ...joined, ...options.cluster], {
      name: 'the simulator',
    }),
  );
  options.signal?.addEventListener('abort', () => simulator.kill('SIGTERM'));
  await simulator.line(/ is ready at /, 60_000);

  const server = stack.use(
    spawnServer({
      ...options,
      kubeconfig: join(folder, 'metrics-server.kubeconfig'),
      kubeletCa: join(folder, 'kubelet-ca.crt'),
      port,
      folder,
    }),
  );
  const owned = stack.move();
  return {
    simulator,
    server,
    kubectl,
    kubeconfig,
    folder,
    serverOrigin: `https://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
