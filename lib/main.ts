import { FlagError } from '#lib/flags/flag-error.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { limitYoungGeneration } from '#lib/limit-young-generation.ts';
import { runDoctor } from '#lib/resource-metrics/doctor/doctor.ts';
import { startMetricsServer } from '#lib/resource-metrics/metrics-server.ts';
import { type CommandLine, parseOptions } from '#lib/resource-metrics/options.ts';
import { KlogLogger } from '#lib/telemetry/klog-logger.ts';
import { describeError, type Logger } from '#lib/telemetry/logger.ts';
import { printable } from '#lib/telemetry/printable.ts';
import { systemClock } from '#lib/time/system-clock.ts';
import { versionInfo } from '#lib/version.ts';

type Run = Extract<CommandLine, { readonly kind: 'run' }>;
type Doctor = Extract<CommandLine, { readonly kind: 'doctor' }>;

/** Runs until a signal comes; the process ends with the status that this returns. */
async function main(argv: readonly string[]): Promise<number> {
  const stopped = firstSignal();
  const commandLine = parseOptions(argv);
  if (commandLine.kind === 'help') process.stdout.write(commandLine.text);
  else if (commandLine.kind === 'version') process.stdout.write(`${versionInfo(process).gitVersion}\n`);
  else if (commandLine.kind === 'doctor') return (await examine(commandLine, stopped)) ? 0 : 1;
  else await serve(commandLine, stopped);
  return 0;
}

async function serve(command: Run, stopped: Promise<NodeJS.Signals>): Promise<void> {
  const { options } = command;
  limitYoungGeneration();
  const logger = startLog(command);
  const version = versionInfo(process);
  logger.info('Starting', { version: version.gitVersion, node: process.version });
  const signal = abortingAt(stopped);
  const access = await openAccess(options.kubeconfig, { logger, signal });
  const openOther = async (kubeconfig: string | undefined) =>
    kubeconfig === undefined ? undefined : await openAccess(kubeconfig, { logger, signal });
  await using server = await startMetricsServer(options, {
    access,
    authenticationAccess: await openOther(options.authentication.kubeconfig),
    authorizationAccess: await openOther(options.authorization.kubeconfig),
    clock: systemClock,
    logger,
    version,
  });
  logger.info('Serving', { ...server.address });
  logger.info('Shutting down', { signal: await stopped });
}

/** @returns whether nothing was found wrong */
async function examine(command: Doctor, stopped: Promise<NodeJS.Signals>): Promise<boolean> {
  const { options, doctor } = command;
  const logger = startLog(command);
  process.stdout.on('error', () => {}); // who reads no further, as `head`, has seen enough
  const signal = abortingAt(stopped);
  return await runDoctor(options, doctor, {
    access: await openAccess(options.kubeconfig, { logger, signal }),
    clock: systemClock,
    logger,
    userAgent: `metrics-server-doctor/${versionInfo(process).gitVersion}`,
    signal,
    write: (text) => void process.stdout.write(text),
  });
}

function startLog({ options, ignored }: Omit<Run, 'kind'>): Logger {
  const write = (line: string) => void process.stderr.write(line);
  const logger = new KlogLogger({ ...options.logging, clock: systemClock, processId: process.pid, write });
  endAtFault(logger);
  for (const { argument, reason } of ignored) logger.warning('Ignoring an argument', { argument, reason });
  return logger;
}

/** Aborts when the process is told to end. */
function abortingAt(stopped: Promise<NodeJS.Signals>): AbortSignal {
  const interrupted = new AbortController();
  void stopped.then((signal) => interrupted.abort(new Error(`interrupted by ${signal}`)));
  return interrupted.signal;
}

function openAccess(
  kubeconfig: string | undefined,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<ClusterAccess> {
  return loadClusterAccess({
    kubeconfig,
    serviceHost: process.env.KUBERNETES_SERVICE_HOST,
    servicePort: process.env.KUBERNETES_SERVICE_PORT,
    clock: systemClock,
    logger,
    signal,
  });
}

/**
 * Ends the process at an exception that nobody caught or a promise whose failure nobody awaited: what it left undone is
 * unknown, and whoever restarts the process gets a sound one.
 */
function endAtFault(logger: Logger): void {
  process.stderr.on('error', () => {}); // nobody reads the log any more, which is no reason to end
  process.on('uncaughtException', (error, origin) => {
    logger.error('Ending because of a fault of this program', error, { origin, stack: error.stack });
    process.exit(1);
  });
}

/** Resolves with the first SIGTERM or SIGINT; the second ends the process at once. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let count = 0;
    const receive = (signal: NodeJS.Signals) => {
      if (++count > 1) process.exit(1);
      resolve(signal);
    };
    process.on('SIGTERM', receive);
    process.on('SIGINT', receive);
  });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const hint = error instanceof FlagError ? '; see --help' : '';
  const lines = describeError(error)
    .split('\n')
    .map((line) => line.trim());
  process.stderr.write(`metrics-server: ${printable(lines.join(' '))}${hint}\n`);
  process.exitCode = 1;
}
