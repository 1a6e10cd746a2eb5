import { describeError } from '#lib/telemetry/logger.ts';
import type { ScaledJob } from '../objects/scaled-job.ts';
import { brokenByTriggers } from '../validation/validate-scaled-object.ts';

/** A check that a ScaledJob does not pass. */
export class JobCheckFailure extends Error {
  override readonly name = 'JobCheckFailure';

  /** The step, and what was wrong at it: the condition says the step alone. */
  get full(): string {
    return this.cause === undefined ? this.message : `${this.message}: ${describeError(this.cause)}`;
  }
}

/** Checks what a schema cannot. @throws {JobCheckFailure} for the first rule that is broken */
export function checkScaledJob({ spec }: ScaledJob): void {
  if (!spec.jobTargetRef) throw new JobCheckFailure('ScaledJob.spec.jobTargetRef not found');
  const step = "ScaledJob doesn't have correct triggers specification";
  const broken = brokenByTriggers(spec.triggers);
  if (broken) throw new JobCheckFailure(step, { cause: new Error(broken) });
  if (spec.triggers.some(({ metricType }) => metricType !== undefined))
    throw new JobCheckFailure('Cannot set metricType in ScaledJob triggers');
}
