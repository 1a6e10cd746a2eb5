import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { type Controller, DONE } from '#lib/control/controller.ts';
import type { EventRecorder, EventText } from '#lib/control/event-recorder.ts';
import type { SharedInformer } from '#lib/kubernetes/informer/shared-informers.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { conclude } from './decision/conclude.ts';
import { decide } from './decision/decide.ts';
import type { Decision, Outcome } from './decision/decision.ts';
import type { HpaConfig } from './decision/decision-input.ts';
import type { HpaMemory } from './decision/scaling-state.ts';
import {
  actedOnElsewhere,
  type OtherControllers,
  withoutElsewhere,
  writtenByOtherAtMs,
} from './external-controllers.ts';
import type { StatusClient } from './hpa-status-writer.ts';
import type { ReadWorld, World } from './inputs/inputs-reader.ts';
import { type FollowedScales, writeTargetScale } from './inputs/target-scales.ts';
import type { AutoMinOptions, AutoMinReplicas } from './min-replicas/auto-min-replicas.ts';
import type { DecisionLog } from './observability/decision-log.ts';
import type { HpaSeries } from './observability/hpa-series.ts';
import { keptWindows } from './state/persisted-state.ts';
import type { HpaMemories } from './state/scaling-states.ts';
import { DueHpas, isSameWish, type SyncSchedule, syncSchedule, untilNextMs } from './sync-schedule.ts';

/** Another controller is left alone until it has not written for so many periods. */
const QUIET_PERIODS = 3;

/** Scales targets by metrics. A new one for each term as leader. */
export function hpaController(dependencies: HpaDependencies): Controller {
  const { hpas, pods, readWorld, statuses, memories, autoMin, others, decisions, series, clock, options } =
    dependencies;
  const due = new DueHpas();
  const permits = new FairSemaphore(options.concurrentSyncs);
  return {
    name: 'hpa',
    watches: [hpas, { onChange: () => () => {}, synced: (signal) => pods.synced(signal) }],
    async reconcile(key, signal) {
      const hpa = statuses.latest(key, hpas.find(key));
      if (!hpa || !options.selector.matches(hpa.metadata.labels ?? {})) {
        const { namespace = '', name } = nameOfKey(key);
        due.forget(key);
        decisions.forget(key);
        readWorld.forget(key);
        series.forget(namespace, name);
        if (!hpa) others.observe(key, undefined, undefined); // a status may have been sent since it went
        await memories.forget(namespace, name, { isKept: options.isDryRun });
        await autoMin.forget(namespace, name);
        if (!due.isFollowing(namespace)) memories.letGo(namespace);
        return DONE;
      }
      const schedule = syncSchedule(hpa, options.syncPeriodMs);
      due.follow(key, hpa.metadata.namespace, schedule.periodMs);
      const waitMs = due.untilDueMs(key, hpa, clock.monotonicMs());
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const isChanged = due.isNew(key, hpa);
      const dueAtMs = clock.monotonicMs() + waitMs;
      if (schedule.problem && isChanged) tell(hpa, dependencies, invalidPeriod(schedule.problem));

      const other = options.isDryRun ? undefined : others.lately(key, QUIET_PERIODS * schedule.periodMs);
      if (other) {
        const { status, event } = actedOnElsewhere(hpa, other, { nowMs: clock.nowMs(), ...schedule });
        decisions.steppedAside(key, other, clock.nowMs());
        tell(hpa, dependencies, event);
        await statuses.write(hpa, status, signal);
      } else {
        const startedAtMs = clock.monotonicMs();
        const outcome = await actOnHpa(hpa, { schedule, due, permits, signal, ...dependencies });
        if (!outcome) return { requeueAfterMs: 1 };
        series.reconciled(outcome, clock.monotonicMs() - startedAtMs);
      }
      const nowMs = clock.monotonicMs();
      if (!isChanged) series.late(nowMs - dueAtMs);
      const untilMs = untilNextMs(schedule, nowMs);
      due.decided(key, hpa, nowMs + untilMs);
      return { requeueAfterMs: untilMs };
    },
  };
}

function invalidPeriod(message: string): EventText {
  return { type: 'Warning', reason: 'InvalidResyncPeriod', message };
}

/** What one HPA is acted on with. */
interface ActOptions extends HpaDependencies {
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
async function actOnHpa(seen: Hpa, acting: ActOptions): Promise<Outcome | undefined> {
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
function isOtherNow(seen: Hpa, { hpas, statuses }: ActOptions): boolean {
  const key = `${seen.metadata.namespace}/${seen.metadata.name}`;
  const now = statuses.latest(key, hpas.find(key));
  return !now || !isSameWish(now, seen);
}

interface KeepOptions {
  readonly hpa: Hpa;
  readonly decision: Decision;
  readonly nowMs: number;
  readonly acting: ActOptions;
}

/** Has the memory outlive this process; where that fails, scaling goes on, for it is needed more. */
async function keep(memory: HpaMemory, { hpa, decision, nowMs, acting }: KeepOptions): Promise<void> {
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

/** What flags say about deciding. */
export interface HpaLoopOptions {
  readonly syncPeriodMs: number;
  /** So many are acted on at once; more may wait until their metrics are read. */
  readonly concurrentSyncs: number;
  readonly config: HpaConfig;
  /** Which HPAs are taken care of. */
  readonly selector: LabelSelector;
  /** Decides and tells, and writes nothing. */
  readonly isDryRun: boolean;
  /** How minReplicas follow the week. */
  readonly autoMin: AutoMinOptions;
}

/** What the controller works with. */
interface HpaDependencies {
  readonly hpas: Pick<SharedInformer<Hpa>, 'find' | 'onChange' | 'synced'>;
  readonly pods: { synced(signal: AbortSignal): Promise<void> };
  readonly readWorld: ReadWorld;
  readonly scales: Pick<FollowedScales, 'set'>;
  readonly statuses: StatusClient;
  readonly memories: HpaMemories;
  readonly autoMin: Pick<AutoMinReplicas, 'observe' | 'forget'>;
  readonly others: OtherControllers;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly decisions: DecisionLog;
  readonly series: HpaSeries;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly options: HpaLoopOptions;
}

interface TellOptions {
  readonly events: Pick<EventRecorder, 'record'>;
  readonly options: { readonly isDryRun: boolean };
}

/** Tells an event of an HPA, unless nothing is to be changed. */
export function tell({ metadata }: Hpa, { events, options }: TellOptions, event: EventText): void {
  if (options.isDryRun) return;
  const { namespace, name, uid, resourceVersion } = metadata;
  const regarding = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    namespace,
    name,
    uid,
    resourceVersion,
  };
  events.record({ regarding, action: 'Scale', ...event });
}
