import type { ApiServer } from '#lib/apiserver/api-server.ts';
import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import type { SubsystemServerEnvironment } from '#lib/apiserver/subsystems.ts';
import type { LoggingOptions } from '#lib/flags/logging-flags.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { systemClock } from '#lib/time/clock.ts';
import packageJson from '../package.json' with { type: 'json' };

/** The process, as far as a command needs it. */
export interface Program {
  readonly version: VersionInfo;
  /** Of Node. */
  readonly nodeVersion: string;
  /** What the process was given with it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Resolves with the first signal that asks the process to end. */
  readonly stopped: Promise<NodeJS.Signals>;
  /** Aborts with it. */
  readonly interrupted: AbortSignal;

  /** Writes what was asked for to the standard output. */
  print(text: string): void;

  /** Starts the log, on the standard error, which takes errors in the program from then on. */
  startLog(options: LoggingOptions): Logger;

  /** The namespace that it runs in; `undefined` outside a cluster. */
  ownNamespace(): Promise<string | undefined>;

  /** @param kubeconfig a file; `undefined` for the pod's service account */
  openAccess(kubeconfig: string | undefined, logger: Logger): Promise<ClusterAccess>;
}

/** A command: takes the command line behind its name, and runs until it is done or the process is to end. */
export type Command = (argv: readonly string[], program: Program) => Promise<number>;

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

/** The Kubernetes API level that the reference reports, and so the one that clients adapt to. */
const KUBERNETES = { major: '1', minor: '33' };

/** What this build is and runs on. */
export function versionInfo(runtime: {
  readonly version: string;
  readonly platform: string;
  readonly arch: string;
}): VersionInfo {
  return {
    ...KUBERNETES,
    gitVersion: `v${packageJson.version}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node${runtime.version}`,
    compiler: 'v8',
    platform: `${runtime.platform}/${runtime.arch === 'x64' ? 'amd64' : runtime.arch}`,
  };
}
