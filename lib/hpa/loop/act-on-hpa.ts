import type { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import type { FollowedHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { conclude } from '../conclude.ts';
import { decide } from '../decide.ts';
import type { Decision, Outcome } from '../decision.ts';
import { keptWindows } from '../memory/kept-memory.ts';
import type { HpaMemory } from '../objects/hpa-memory.ts';
import { writeTargetScale } from '../targets/target-scale.ts';
import { withoutElsewhere } from './elsewhere-condition.ts';
import type { HpaDependencies } from './hpa-dependencies.ts';
import { writtenByOtherAtMs } from './other-controllers.ts';
import type { World } from './read-world.ts';
import { type DueHpas, isSameWish, type SyncSchedule, untilNextMs } from './sync-schedule.ts';
import { tell } from './tell-event.ts';

/** What one HPA is acted on with. */
export interface ActOptions extends HpaDependencies {
  readonly schedule: SyncSchedule;
  readonly due: DueHpas;
  /** Of those that are acted on at once, which namespaces share. */
  readonly permits: FairSemaphore;
  readonly signal: AbortSignal;
}

/** Where periods are long, one that was changed is not decided by what was read long before. */
const MOST_AGE_MS = 15_000;
/** Who has waited this long for others to be acted on decides by the world as it is then. */
const LONGEST_WAIT_MS = 1000;

/**
 * Decides one HPA, and does what was decided: remembers it, scales, and tells.
 *
 * @returns `undefined` where the HPA was changed while others were acted on, or before it was to be scaled: it has to be
 *   decided again
 */
export async function actOnHpa(seen: FollowedHpa, acting: ActOptions): Promise<Outcome | undefined> {
  const { readWorld, memories, statuses, decisions, series, schedule, due, clock, signal } = acting;
  const { config, isDryRun } = acting.options;
  const { namespace, name, uid } = seen.metadata;
  const hpa = withoutElsewhere(seen);
  const maxAgeMs = Math.min(due.shortestPeriodMs(namespace) / 2, MOST_AGE_MS);
  const rememberer = { namespace, name, uid };
  const look = async (isFresh: boolean, earlier?: World) => {
    const read = await readWorld.of(hpa, { maxAgeMs, signal, isFresh, earlier });
    const { target, isFollowed, tookMs, ...world } = read;
    const nowMs = clock.nowMs();
    const memory = await memories.of(rememberer, {
      currentReplicas: target?.specReplicas,
      decidedAtMs: nowMs - schedule.periodMs,
      otherDecidedAtMs: writtenByOtherAtMs(hpa),
    });
    return { read, nowMs, decision: decide({ hpa, ...world, memory, config, nowMs }) };
  };
  let looked = await look(await memories.dependsOnScale(rememberer, clock.nowMs()));
  const decidedAtMs = clock.monotonicMs();
  using _permit = await acting.permits.acquire(namespace, signal);
  const isLate = clock.monotonicMs() - decidedAtMs >= LONGEST_WAIT_MS;
  if (isLate && isOtherNow(seen, acting)) return undefined;
  // What is followed may be outdated, and what was read long ago is: nothing is scaled on their word.
  if (looked.decision.scaleTo !== undefined && (isLate || looked.read.isFollowed))
    looked = await look(true, isLate ? undefined : looked.read);
  const { nowMs, decision } = looked;
  if (decision.scaleTo !== undefined && isOtherNow(seen, acting)) return undefined;
  const { target } = looked.read;
  let outcome = conclude(decision, hpa, { nowMs });
  const cause = { by: `hpa ${name}`, why: decision.scaleReason || 'limits of the HPA' };
  if (isDryRun) {
    if (decision.scaleTo !== undefined && target)
      await writeTargetScale(target, decision.scaleTo, { ...acting, cause }); // logs what it would do
    memories.set(rememberer, decision.memory);
  } else {
    await keep(outcome.memory, { hpa, decision, nowMs, acting });
    if (decision.scaleTo !== undefined && target) {
      const updateError = await writeTargetScale(target, decision.scaleTo, { ...acting, cause });
      if (updateError !== undefined) outcome = conclude(decision, hpa, { nowMs, updateError });
      // What follows may fail and be tried again, which must not scale a second time in the period.
      const scaledAtMs = clock.monotonicMs();
      due.decided(`${namespace}/${name}`, seen, scaledAtMs + untilNextMs(schedule, scaledAtMs));
    }
    memories.set(rememberer, outcome.memory);
    for (const event of outcome.events) tell(hpa, acting, event);
    await statuses.write(seen, outcome.status, signal);
  }
  decisions.record(`${namespace}/${name}`, outcome, { hpa, isDryRun, problem: schedule.problem });
  series.decided(hpa, outcome, { isDryRun, tookMs: looked.read.tookMs });
  await acting.autoMin.observe(hpa, outcome.explanation, { nowMs, signal });
  return outcome;
}

/** Whether an HPA was changed by its user, or is no more. */
function isOtherNow(seen: FollowedHpa, { hpas, statuses }: ActOptions): boolean {
  const key = `${seen.metadata.namespace}/${seen.metadata.name}`;
  const now = statuses.latest(key, hpas.find(key));
  return !now || !isSameWish(now, seen);
}

/** Has the memory outlive this process; where that fails, scaling goes on, for it is needed more. */
async function keep(
  memory: HpaMemory,
  {
    hpa,
    decision,
    nowMs,
    acting,
  }: {
    readonly hpa: FollowedHpa;
    readonly decision: Decision;
    readonly nowMs: number;
    readonly acting: ActOptions;
  },
): Promise<void> {
  const { memories, series, options, logger } = acting;
  const { scaleTo, status } = decision;
  const from = status?.currentReplicas;
  const intent =
    scaleTo === undefined || from === undefined || !hpa.spec.behavior
      ? undefined
      : { from, to: scaleTo, atMs: nowMs };
  const windows = keptWindows(hpa.spec, options.config);
  const { namespace, name, uid } = hpa.metadata;
  try {
    const currentReplicas = scaleTo === undefined ? from : undefined;
    await memories.keep({ namespace, name, uid }, memory, { currentReplicas, windows, intent, nowMs });
    series.memoryKept(namespace, name);
  } catch (error) {
    acting.signal.throwIfAborted();
    if (series.memoryNotKept(namespace, name))
      logger.error('Cannot keep what is remembered of HPAs; a restart would forget it', error, {
        namespace,
        name,
      });
  }
}
