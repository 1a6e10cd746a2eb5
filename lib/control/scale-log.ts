import type { DryRun } from '#lib/kubernetes/client/dry-run.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { printable } from '#lib/telemetry/printable.ts';

/** Who changes the desired replicas, and why. */
export interface ScaleCause {
  /** Such as `hpa web`: the controller, and the name of the object in the namespace of the target. */
  readonly by: string;
  /** Such as `external metric queue-depth above target`. */
  readonly why: string;
}

/** Contains names and expressions of users, which may be long. */
const MAX_CAUSE_LENGTH = 400;

/**
 * Logs, at the default verbosity, a line for each change of desired replicas: the target, both numbers, the object and
 * the cause. In a dry run it logs once what would be done, and again when that changes.
 */
export class ScaleLog {
  readonly #logger: Logger;
  readonly #dryRun: DryRun | undefined;

  constructor({ logger, dryRun }: { readonly logger: Logger; readonly dryRun?: DryRun | undefined }) {
    this.#logger = logger;
    this.#dryRun = dryRun;
  }

  /** @param target such as `Deployment default/web` */
  scaled(
    target: string,
    { from, to }: { readonly from: number; readonly to: number },
    cause: ScaleCause,
  ): void {
    this.#log(target, ['Scaled', 'scale'], `${target} from ${from} to ${to}`, cause);
  }

  /** @param hpa such as `default/web` */
  minReplicasChanged(
    hpa: string,
    { from, to }: { readonly from: number; readonly to: number },
    cause: ScaleCause,
  ): void {
    const what = `minReplicas of HorizontalPodAutoscaler ${hpa} from ${from} to ${to}`;
    this.#log(`minReplicas ${hpa}`, ['Changed', 'change'], what, cause);
  }

  /** @param owner such as `default/worker` */
  jobsCreated(owner: string, count: number, cause: ScaleCause): void {
    const what = `${count} ${count === 1 ? 'Job' : 'Jobs'} of ScaledJob ${owner}`;
    this.#log(`Jobs ${owner}`, ['Created', 'create'], what, cause);
  }

  #log(key: string, [done, toDo]: readonly [string, string], what: string, { by, why }: ScaleCause): void {
    const cause = printable(`${by}: ${why}`);
    const shortened = cause.length > MAX_CAUSE_LENGTH ? `${cause.slice(0, MAX_CAUSE_LENGTH)}…` : cause;
    if (this.#dryRun) this.#dryRun.report(key, `Would ${toDo} ${what} (${shortened})`);
    else this.#logger.info(`${done} ${what} (${shortened})`);
  }
}
