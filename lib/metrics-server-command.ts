import { runDoctor } from '#lib/resource-metrics/doctor/doctor.ts';
import { startMetricsServer } from '#lib/resource-metrics/metrics-server.ts';
import { type CommandLine, parseOptions } from '#lib/resource-metrics/options.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { systemClock } from '#lib/time/system-clock.ts';
import type { Program } from './program.ts';

type Run = Extract<CommandLine, { readonly kind: 'run' }>;
type Doctor = Extract<CommandLine, { readonly kind: 'doctor' }>;

/** The command `metrics-server`, and its doctor; gives the exit status. */
export async function runMetricsServer(argv: readonly string[], program: Program): Promise<number> {
  const commandLine = parseOptions(argv);
  if (commandLine.kind === 'help') program.print(commandLine.text);
  else if (commandLine.kind === 'version') program.print(`${program.version.gitVersion}\n`);
  else if (commandLine.kind === 'doctor') return (await examine(commandLine, program)) ? 0 : 1;
  else await serve(commandLine, program);
  return 0;
}

async function serve(command: Run, program: Program): Promise<void> {
  const { options } = command;
  const logger = startLog(command, program);
  const { version, nodeVersion, stopped } = program;
  logger.info('Starting', { version: version.gitVersion, node: nodeVersion });
  const access = await program.openAccess(options.kubeconfig, logger);
  const openOther = async (kubeconfig: string | undefined) =>
    kubeconfig === undefined ? undefined : await program.openAccess(kubeconfig, logger);
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
async function examine(command: Doctor, program: Program): Promise<boolean> {
  const { options, doctor } = command;
  const logger = startLog(command, program);
  return await runDoctor(options, doctor, {
    access: await program.openAccess(options.kubeconfig, logger),
    clock: systemClock,
    logger,
    userAgent: `metrics-server-doctor/${program.version.gitVersion}`,
    signal: program.interrupted,
    write: (text) => program.print(text),
  });
}

function startLog({ options, ignored }: Omit<Run, 'kind'>, program: Program): Logger {
  const logger = program.startLog(options.logging);
  for (const { argument, reason } of ignored) logger.warning('Ignoring an argument', { argument, reason });
  return logger;
}
