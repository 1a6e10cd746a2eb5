import { hpaNameOf, type ScaledObject, targetOf } from '../api/scaled-object.ts';
import type { Workload } from '../api/target-workloads.ts';
import type { ManagedHpa } from '../scaling/hpa-client.ts';
import { CheckFailure, type Rule } from '../validation/check-failure.ts';
import { haveOneTarget } from '../validation/find-conflicts.ts';
import { checkWithDefaults, irrelevantSettings } from '../validation/validate-scaled-object.ts';
import type { Verdict } from './admission-review.ts';

/** What an object is judged by: what informers have, so that nobody waits. */
export interface JudgedWorld {
  rivalsOf(object: ScaledObject): Iterable<ScaledObject>;
  hpasBeside(object: ScaledObject): Iterable<ManagedHpa>;
  workload(target: ReturnType<typeof targetOf>): Workload | undefined;
  /** Resources of which a namespace gives containers a default. @throws where that is not known in time */
  limitedByDefault(namespace: string): Promise<readonly string[]>;
}

/** A verdict, and by which rule it is so. */
export interface RuledVerdict extends Verdict {
  readonly rule?: Rule | undefined;
}

/** How an object is judged. */
export interface JudgedAs {
  /** As it was, where it is updated: what it wants only now, who has it already keeps. */
  readonly before: ScaledObject | undefined;
  readonly isDryRun: boolean;
}

/** What is created now is younger than all that there is. */
const YOUNGEST = '9999-12-31T23:59:59Z';
/** Older than all. */
const OLDEST = '';
/** No list of defaults has more: a container is then as if it requested everything. */
const EVERYTHING = ['cpu', 'memory'];

/** Judges a ScaledObject by the checks that reconcile makes. */
export async function judgeScaledObject(
  object: ScaledObject,
  { before, isDryRun }: JudgedAs,
  world: JudgedWorld,
): Promise<RuledVerdict> {
  const target = targetOf(object);
  const { namespace = '', uid, name } = object.metadata;
  const judged = {
    ...object,
    metadata: { ...object.metadata, uid: uid ?? '', ...(!before && { creationTimestamp: YOUNGEST }) },
  };
  const others = [...world.rivalsOf(object)]
    .filter((one) => one.metadata.name !== name)
    .map((one) => (before && !areRivals(one, before) ? asOldest(one) : one));
  const neighbours = {
    ...{ objects: others, hpas: world.hpasBeside(object) },
    workload: isDryRun ? undefined : world.workload(target),
  };
  const warnings = irrelevantSettings(object);
  try {
    await checkWithDefaults(
      judged,
      neighbours,
      () => world.limitedByDefault(namespace).catch(() => EVERYTHING), // reconcile tells
    );
  } catch (error) {
    if (!(error instanceof CheckFailure)) throw error;
    return refused(error, warnings);
  }
  return { isAllowed: true, warnings };
}

/** Whether two want the same target, or the same HPA. */
function areRivals(one: ScaledObject, other: ScaledObject): boolean {
  return haveOneTarget(one, other) || hpaNameOf(one) === hpaNameOf(other);
}

function asOldest(object: ScaledObject): ScaledObject {
  return { ...object, metadata: { ...object.metadata, creationTimestamp: OLDEST } };
}

function refused({ reason, rule }: CheckFailure, warnings: readonly string[]): RuledVerdict {
  return { isAllowed: false, message: reason, rule, warnings };
}
