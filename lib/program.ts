import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import type { LoggingOptions } from '#lib/flags/logging-flags.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import type { Logger } from '#lib/telemetry/logger.ts';

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
