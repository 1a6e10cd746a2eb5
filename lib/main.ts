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

/** Loaded on demand. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  'metrics-server': async () => (await import('./metrics-server-command.ts')).runMetricsServer,
  autoscaler: async () => (await import('./autoscaler-command.ts')).runAutoscaler,
  'prometheus-operator': async () => (await import('./prometheus-operator-command.ts')).runPrometheusOperator,
};

/** For metrics-server's manifests, whose arguments begin with flags. */
const DEFAULT_COMMAND = 'metrics-server';

/** Runs a command until it ends or a signal arrives. @returns the exit status */
async function main(name: string, argv: readonly string[]): Promise<number> {
  limitYoungGeneration();
  const stopped = firstSignal();
  process.stdout.on('error', () => {}); // ignore EPIPE, as of `| head`
  const command = await getOwn(COMMANDS, name)?.();
  return (await command?.(argv, createProgram(stopped))) ?? 1;
}

function createProgram(stopped: Promise<NodeJS.Signals>): Program {
  const interrupted = abortingAt(stopped);
  return {
    version: versionInfo(process),
    nodeVersion: process.version,
    environment: process.env,
    stopped,
    interrupted,
    print: (text) => void process.stdout.write(text),
    printError: (text) => void process.stderr.write(text),
    startLog,
    ownNamespace: () => readOwnNamespace(),
    openAccess: (kubeconfig, logger) =>
      loadClusterAccess({
        kubeconfig,
        environment: process.env,
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
  exitOnUncaughtError(logger);
  return logger;
}

function abortingAt(stopped: Promise<NodeJS.Signals>): AbortSignal {
  const interrupted = new AbortController();
  void stopped.then((signal) => interrupted.abort(new Error(`interrupted by ${signal}`)));
  return interrupted.signal;
}

/**
 * Exits on uncaught exceptions and unhandled rejections: the state of the process is undefined then, and a restart
 * gives a sound one.
 */
function exitOnUncaughtError(logger: Logger): void {
  process.stderr.on('error', () => {}); // a closed log is no reason to exit
  process.on('uncaughtException', (error, origin) => {
    logger.error('Exiting because of an internal error', error, { origin, stack: error.stack });
    process.exit(1);
  });
}

/** Resolves with the first SIGTERM or SIGINT; the second exits at once. */
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
