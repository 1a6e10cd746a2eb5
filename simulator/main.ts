import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { parse as parseYaml } from 'yaml';
import { describeError } from '#lib/telemetry/error-text.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { writeClusterFiles, writePrivateFile } from './cluster-files.ts';
import { type CommandLine, parseCommandLine, USAGE } from './command-line.ts';
import type { ScenarioInput } from './scenario.ts';
import { type SimulatedCluster, startCluster } from './simulated-cluster.ts';

/** Added to the error when a port is in use, for example by another simulator. */
const FREE_PORTS =
  '; --port 0 --kubelet-port 0 uses free ports, which metrics-server finds with --kubelet-use-node-status-port';

try {
  await main(parseCommandLine(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${printableLines(describeError(error))}${isPortTaken(error) ? FREE_PORTS : ''}\n`);
  process.exitCode = 1;
}

async function main(commandLine: CommandLine): Promise<void> {
  if (commandLine.help) return void process.stdout.write(USAGE);
  countExternalMemory();
  const stopSignal = receiveStopSignal();
  const { port, kubeletPort, metricsServer, autoscaler, scenarioFile } = commandLine;
  const fromFile = scenarioFile === undefined ? {} : await readScenario(scenarioFile);
  const scenario: ScenarioInput = { ...fromFile, ...commandLine.scenario };
  await using cluster = await startCluster(scenario, {
    ...{ port, kubeletPort, metricsServer },
    ...(autoscaler && { autoscaler }),
  });
  await writeFiles(cluster, commandLine);
  process.stdout.write(`${readyLine(cluster)}\n`);
  await stopSignal;
}

function isPortTaken(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
}

async function readScenario(file: string): Promise<object> {
  try {
    return parseYaml(await readFile(file, 'utf8')) ?? {};
  } catch (cause) {
    throw new Error(`Cannot read scenario ${file}`, { cause });
  }
}

async function writeFiles(cluster: SimulatedCluster, commandLine: CommandLine): Promise<void> {
  const { kubeconfig, metricsServerKubeconfig, filesDirectory } = commandLine;
  const forMetricsServer = cluster.kubeconfigFor('metrics-server', { token: cluster.metricsServerToken });
  if (kubeconfig) await writePrivateFile(kubeconfig, cluster.kubeconfig);
  if (metricsServerKubeconfig) await writePrivateFile(metricsServerKubeconfig, forMetricsServer);
  if (filesDirectory) {
    const { pki } = cluster;
    await writeClusterFiles(filesDirectory, {
      pki,
      kubeconfig: cluster.kubeconfig,
      metricsServerKubeconfig: forMetricsServer,
    });
  }
}

function readyLine({ server, kubeletPort, scenario, store }: SimulatedCluster): string {
  const pods = store.list('pods').items.length;
  return `Simulated cluster is ready at ${server}: ${scenario.nodes} nodes, ${pods} pods, kubelets on port ${kubeletPort}`;
}

/** Resolves at the first signal; a second one of the same kind ends the process at once. */
function receiveStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}

/**
 * Counts external memory in V8's heap limit. Otherwise every 64 MB of connections and responses trigger a marking of
 * hundreds of thousands of pods, most of the time in a large cluster.
 */
function countExternalMemory(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
