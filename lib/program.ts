import type { ApiServer } from '#lib/apiserver/api-server.ts';
import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import type { SubsystemServerEnvironment } from '#lib/apiserver/subsystems.ts';
import type { LoggingOptions } from '#lib/flags/logging-flags.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { systemClock } from '#lib/time/clock.ts';
import packageJson from '../package.json' with { type: 'json' };

/** What a command needs of the process. */
export interface Program {
  readonly version: VersionInfo;
  /** Of Node. */
  readonly nodeVersion: string;
  /** Environment variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Resolves with the first SIGTERM or SIGINT. */
  readonly stopped: Promise<NodeJS.Signals>;
  /** Aborts when {@link stopped} resolves. */
  readonly interrupted: AbortSignal;

  /** Writes to standard output. */
  print(text: string): void;

  /** Writes to standard error. */
  printError(text: string): void;

  /** Starts logging to standard error, including uncaught errors. */
  startLog(options: LoggingOptions): Logger;

  /** The namespace of the pod; `undefined` outside a cluster. */
  ownNamespace(): Promise<string | undefined>;

  /** @param kubeconfig a file; `undefined` for the pod's service account */
  openAccess(kubeconfig: string | undefined, logger: Logger): Promise<ClusterAccess>;
}

/** Takes the arguments after the command's name, and runs until it is done or the process is stopped. */
export type Command = (argv: readonly string[], program: Program) => Promise<number>;

/** Options of both servers. */
interface ServedOptions {
  readonly logging: LoggingOptions;
  readonly kubeconfig: string | undefined;
  readonly authentication: { readonly kubeconfig: string | undefined };
  readonly authorization: { readonly kubeconfig: string | undefined };
}

interface ReadFlags<Options> {
  readonly options: Options;
  readonly ignored: readonly { readonly argument: string; readonly reason: string }[];
}

type ServerEnvironment = Omit<SubsystemServerEnvironment, 'registry' | 'userAgent'>;

/** Starts a server and serves until the process is stopped. */
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

/** Starts the log, and warns of arguments without effect. */
export function startLog(
  { options, ignored }: ReadFlags<Pick<ServedOptions, 'logging'>>,
  program: Program,
): Logger {
  const logger = program.startLog(options.logging);
  for (const { argument, reason } of ignored) logger.warning('Ignoring argument', { argument, reason });
  return logger;
}

/** The Kubernetes API level that metrics-server reports; clients adapt to it. */
const KUBERNETES = { major: '1', minor: '33' };

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
