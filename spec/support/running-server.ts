import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { versionInfo } from '#lib/program.ts';
import { startMetricsServer } from '#lib/resource-metrics/metrics-server.ts';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import type { ScenarioInput } from '#simulator/scenario.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { eventually } from './eventually.ts';
import { requestHttps } from './https-request.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

/** A metrics server in this process that scrapes a simulated cluster over real sockets, on one manual clock. */
export interface RunningServer extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly cluster: SimulatedCluster;
  readonly logger: RecordingLogger;
  /** Address of the server itself: `https://HOST:PORT`. */
  readonly origin: string;
  /** Sends a request directly to the server as the cluster's administrator. */
  get(path: string): Promise<{ readonly status: number; readonly body: string }>;
  /** The names of the items of a list. */
  names(path: string): Promise<readonly string[]>;
  /** Waits, without advancing the clock, until `count` scrapes in total have succeeded. */
  scraped(count: number): Promise<void>;
}

/** @param flags in addition to those that connect the server to the cluster, or a function that builds them for the cluster */
export async function runServer(
  scenario: ScenarioInput,
  flags: readonly string[] | ((cluster: SimulatedCluster) => Promise<readonly string[]>) = [],
): Promise<RunningServer> {
  await using stack = new AsyncDisposableStack();
  const clock = new ManualClock(Date.now());
  const logger = new RecordingLogger();
  const cluster = stack.use(await startCluster(scenario, { clock }));
  const { metricsServerKubeconfig, kubeletCa, directory } = cluster.files;
  const commandLine = parseOptions([
    `--kubeconfig=${metricsServerKubeconfig}`,
    `--kubelet-certificate-authority=${kubeletCa}`,
    `--kubelet-port=${cluster.kubeletPort}`,
    `--cert-dir=${directory}`,
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    ...(typeof flags === 'function' ? await flags(cluster) : flags),
  ]);
  if (commandLine.kind !== 'run') throw new Error('these flags run nothing');
  const { options } = commandLine;
  const access = await loadClusterAccess({ kubeconfig: options.kubeconfig, clock, logger });
  const version = versionInfo(process);
  const server = stack.use(await startMetricsServer(options, { access, clock, logger, version }));
  const owned = stack.move();

  const origin = `https://127.0.0.1:${server.address.port}`;
  const get = async (path: string) => {
    const { certificatePem: cert, privateKeyPem: key } = cluster.pki.admin;
    return await requestHttps(`${origin}${path}`, { cert, key, rejectUnauthorized: false });
  };
  return {
    clock,
    cluster,
    logger,
    origin,
    get,
    names: async (path) => {
      const { items } = JSON.parse((await get(path)).body);
      return items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    },
    scraped: async (count) => {
      const succeeded = async () => {
        const { body } = await get('/metrics');
        return Number(/^metrics_server_kubelet_request_total\{success="true"\} (\d+)$/m.exec(body)?.[1] ?? 0);
      };
      await eventually(async () => (await succeeded()) >= count);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
