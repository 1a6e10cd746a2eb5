import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#spec/support/free-port.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';

/** Simulator and autoscaler in separate processes, as in a cluster, and the real kubectl. */
export interface AutoscalerSystem extends AsyncDisposable {
  readonly autoscaler: SpawnedProgram;
  readonly kubectl: Kubectl;
  /** Contains the simulator's files and, in `serving`, the autoscaler's self-signed certificate. */
  readonly folder: string;
  /** Runs kubectl in the background, as for `get -w`, and passes on each line of output. */
  watch(args: readonly string[], onLine: (line: string) => void): SpawnedProgram;
}

export interface AutoscalerSystemOptions {
  /** Flags of the autoscaler in addition to those that connect it to the cluster. */
  readonly flags?: readonly string[];
  /** The program's command line before its flags, without the word `autoscaler`; by default, it runs from source. */
  readonly program?: readonly [string, ...string[]];
  readonly env?: NodeJS.ProcessEnv;
  /** Runs between the start of the cluster and that of the autoscaler. */
  readonly prepare?: (kubeconfig: string) => Promise<void>;
  /** Whether the API server forwards requests for custom and external metrics to the autoscaler. */
  readonly servesMetrics?: boolean;
  /** Aborts the start and ends the simulator. */
  readonly signal?: AbortSignal;
}

const CRDS = 'manifests/crds';

/** Starts a simulated cluster with our definitions and a leading autoscaler; both end when the result is disposed. */
export async function startAutoscalerSystem(
  options: AutoscalerSystemOptions = {},
): Promise<AutoscalerSystem> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'autoscaler-system-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, 'admin.kubeconfig');
  const binary = await findKubectl();
  const kubectl = new Kubectl(binary, kubeconfig);
  const port = options.servesMetrics ? await freePort() : 0;
  const anyPorts = ['--port', '0', '--kubelet-port', '0'];
  const metrics = options.servesMetrics ? ['--autoscaler', `127.0.0.1:${port}`] : [];
  const described = ['--files-dir', folder, '--nodes', '2', '--pods-per-node', '0'];
  const simulator = stack.use(
    new SpawnedProgram(process.execPath, ['simulator/main.ts', ...anyPorts, ...metrics, ...described], {
      name: 'the simulator',
    }),
  );
  options.signal?.addEventListener('abort', () => simulator.kill('SIGTERM'));
  await simulator.line(/ is ready at /, 60_000);
  const applied = await kubectl.run(['apply', '-k', CRDS]);
  if (applied.exitStatus !== 0) throw new Error(`Cannot apply ${CRDS}: ${applied.stderr.trim()}`);

  await options.prepare?.(kubeconfig);

  const [command, ...beginning] = options.program ?? [process.execPath, 'lib/main.ts'];
  const joined = [`--kubeconfig=${kubeconfig}`, '--bind-address=127.0.0.1', `--secure-port=${port}`];
  const autoscaler = stack.use(
    new SpawnedProgram(
      command,
      [
        ...beginning,
        'autoscaler',
        ...joined,
        `--cert-dir=${join(folder, 'serving')}`,
        ...(options.flags ?? []),
      ],
      { name: 'the autoscaler', ...(options.env && { env: { ...process.env, ...options.env } }) },
    ),
  );
  await autoscaler.line(/Elected leader/, 60_000);
  const owned = stack.move();
  return {
    autoscaler,
    kubectl,
    folder,
    watch: (args, onLine) =>
      owned.use(
        new SpawnedProgram(binary, ['--kubeconfig', kubeconfig, ...args], { name: 'kubectl', onLine }),
      ),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
