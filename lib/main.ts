import type { LoggingOptions } from '#lib/flags/logging-flags.ts';
import { FlagError } from '#lib/flags/parse-flags.ts';
import { loadClusterAccess, readOwnNamespace } from '#lib/kubernetes/access/load-cluster-access.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { KlogLogger } from '#lib/telemetry/klog-logger.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { printable } from '#lib/telemetry/printable.ts';
import { systemClock } from '#lib/time/clock.ts';
import { limitYoungGeneration } from './heap-limits.ts';
import { type Command, type Program, versionInfo } from './program.ts';

/** The programs, of which each is loaded only where it is asked for. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  'metrics-server': async () => (await import('./metrics-server-command.ts')).runMetricsServer,
  autoscaler: async () => (await import('./autoscaler-command.ts')).runAutoscaler,
};

/** What manifests of metrics-server mean, whose arguments begin with flags. */
const DEFAULT_COMMAND = 'metrics-server';

/** Runs the command that the first word names until a signal comes; the process ends with the status that this returns. */
async function main(name: string, argv: readonly string[]): Promise<number> {
  limitYoungGeneration();
  const stopped = firstSignal();
  process.stdout.on('error', () => {}); // who reads no further, as `head`, has seen enough
  const command = await getOwn(COMMANDS, name)?.();
  return (await command?.(argv, programOf(stopped))) ?? 1;
}

function programOf(stopped: Promise<NodeJS.Signals>): Program {
  const interrupted = abortingAt(stopped);
  return {
    version: versionInfo(process),
    nodeVersion: process.version,
    environment: process.env,
    stopped,
    interrupted,
    print: (text) => void process.stdout.write(text),
    startLog,
    ownNamespace: () => readOwnNamespace(),
    openAccess: (kubeconfig, logger) =>
      loadClusterAccess({
        kubeconfig,
        serviceHost: process.env.KUBERNETES_SERVICE_HOST,
        servicePort: process.env.KUBERNETES_SERVICE_PORT,
        clock: systemClock,
        logger,
        signal: interrupted,
      }),
  };
}

function startLog(options: LoggingOptions): Logger {
  const write = (line: string) => void process.stderr.write(line);
  const logger = new KlogLogger({ ...options, clock: systemClock, processId: process.pid, write });
  endAtError(logger);
  return logger;
}

/** Aborts when the process is told to end. */
function abortingAt(stopped: Promise<NodeJS.Signals>): AbortSignal {
  const interrupted = new AbortController();
  void stopped.then((signal) => interrupted.abort(new Error(`interrupted by ${signal}`)));
  return interrupted.signal;
}

/**
 * Ends the process at an exception that nobody caught or a promise whose failure nobody awaited: what it left undone is
 * unknown, and what restarts the process gets a sound one.
 */
function endAtError(logger: Logger): void {
  process.stderr.on('error', () => {}); // nobody reads the log any more, which is no reason to end
  process.on('uncaughtException', (error, origin) => {
    logger.error('Ending because of an error in this program', error, { origin, stack: error.stack });
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

const [word = '', ...behind] = process.argv.slice(2);
const isNamed = Object.hasOwn(COMMANDS, word);
const name = isNamed ? word : DEFAULT_COMMAND;
try {
  process.exitCode = await main(name, isNamed ? behind : process.argv.slice(2));
} catch (error) {
  const hint = error instanceof FlagError ? '; see --help' : '';
  const lines = describeError(error)
    .split('\n')
    .map((line) => line.trim());
  process.stderr.write(`${name}: ${printable(lines.join(' '))}${hint}\n`);
  process.exitCode = 1;
}
