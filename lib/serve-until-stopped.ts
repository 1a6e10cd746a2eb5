import type { ApiServer } from '#lib/apiserver/api-server.ts';
import type { SubsystemServerEnvironment } from '#lib/apiserver/serve-subsystems.ts';
import type { LoggingOptions } from '#lib/flags/logging-flags.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { systemClock } from '#lib/time/system-clock.ts';
import type { Program } from './program.ts';

/** What both servers are told by flags. */
interface ServedOptions {
  readonly logging: LoggingOptions;
  readonly kubeconfig: string | undefined;
  readonly authentication: { readonly kubeconfig: string | undefined };
  readonly authorization: { readonly kubeconfig: string | undefined };
}

/** Flags as they were read. */
interface ReadFlags<Options> {
  readonly options: Options;
  readonly ignored: readonly { readonly argument: string; readonly reason: string }[];
}

/** What both servers need from outside. */
type ServerEnvironment = Omit<SubsystemServerEnvironment, 'registry' | 'userAgent'>;

/** Starts a server, and lets it serve until the process is asked to end. */
export async function serveUntilStopped<Options extends ServedOptions>(
  flags: ReadFlags<Options>,
  program: Program,
  start: (options: Options, environment: ServerEnvironment) => Promise<ApiServer>,
): Promise<void> {
  const { options } = flags;
  const { version, nodeVersion, stopped } = program;
  const logger = startLog(flags, program);
  logger.info('Starting', { version: version.gitVersion, node: nodeVersion });
  const access = await program.openAccess(options.kubeconfig, logger);
  const openOther = async (kubeconfig: string | undefined) =>
    kubeconfig === undefined ? undefined : await program.openAccess(kubeconfig, logger);
  await using server = await start(options, {
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

/** Starts the log with what of the command line counts for nothing. */
export function startLog(
  { options, ignored }: ReadFlags<Pick<ServedOptions, 'logging'>>,
  program: Program,
): Logger {
  const logger = program.startLog(options.logging);
  for (const { argument, reason } of ignored) logger.warning('Ignoring an argument', { argument, reason });
  return logger;
}
