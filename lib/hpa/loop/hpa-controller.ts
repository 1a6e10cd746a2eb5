import { Semaphore } from '#lib/concurrency/semaphore.ts';
import { type Controller, DONE } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { Informer } from '#lib/kubernetes/informer/informer.ts';
import { nameOfKey } from '#lib/kubernetes/kubernetes-object.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AutoMinOptions, AutoMinReplicas } from '../auto-min/auto-min-replicas.ts';
import { conclude } from '../conclude.ts';
import { decide } from '../decide.ts';
import type { Decision, Outcome } from '../decision.ts';
import type { FollowedHpa } from '../followed/followed-hpa.ts';
import type { HpaMemories } from '../memory/hpa-memories.ts';
import { keptWindows } from '../memory/kept-memory.ts';
import type { HpaConfig } from '../objects/hpa-config.ts';
import type { HpaMemory } from '../objects/hpa-memory.ts';
import type { FollowedPod } from '../pods/pod-lister.ts';
import type { FollowedScales } from '../targets/followed-scales.ts';
import { writeTargetScale } from '../targets/target-scale.ts';
import type { DecisionLog } from '../told/decision-log.ts';
import { actedOnElsewhere, withoutElsewhere } from './elsewhere-condition.ts';
import type { HpaSeries } from './hpa-series.ts';
import type { OtherControllers } from './other-controllers.ts';
import type { ReadWorld, World } from './read-world.ts';
import type { StatusClient } from './status-client.ts';
import { DueHpas, type SyncSchedule, syncSchedule, untilNextMs } from './sync-schedule.ts';

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
export interface HpaDependencies {
  readonly hpas: Pick<Informer<FollowedHpa>, 'find' | 'onChange' | 'synced'>;
  readonly pods: Pick<Informer<FollowedPod>, 'synced'>;
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

/** Another controller is left alone until it has not written for so many periods. */
const QUIET_PERIODS = 3;
/** Where periods are long, one that was changed is not decided by what was read long before. */
const MOST_AGE_MS = 15_000;

/** Scales targets by metrics. A new one for each term as leader. */
export function hpaController(dependencies: HpaDependencies): Controller {
  const { hpas, pods, readWorld, statuses, memories, autoMin, others, decisions, series, clock, options } =
    dependencies;
  const due = new DueHpas();
  const permits = new Semaphore(options.concurrentSyncs);
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
        if (!options.isDryRun) await memories.forget(namespace, name);
        await autoMin.forget(namespace, name);
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
        const outcome = await act(hpa, { schedule, due, permits, signal, ...dependencies });
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

interface ActOptions extends HpaDependencies {
  readonly schedule: SyncSchedule;
  readonly due: DueHpas;
  readonly permits: Semaphore;
  readonly signal: AbortSignal;
}

/** Decides one HPA, and does what was decided: remembers it, scales, and tells. */
async function act(seen: FollowedHpa, acting: ActOptions): Promise<Outcome> {
  const { readWorld, memories, statuses, decisions, series, schedule, due, clock, signal } = acting;
  const { config, isDryRun } = acting.options;
  const { namespace, name, uid } = seen.metadata;
  const hpa = withoutElsewhere(seen);
  const maxAgeMs = Math.min(due.shortestPeriodMs(namespace) / 2, MOST_AGE_MS);
  const rememberer = { namespace, name, uid };
  const look = async (isFresh: boolean, earlier?: World) => {
    const read = await readWorld.of(hpa, { maxAgeMs, signal, isFresh, earlier });
    const { target, isFollowed, ...world } = read;
    const nowMs = clock.nowMs();
    const memory = await memories.of(rememberer, {
      currentReplicas: target?.specReplicas,
      decidedAtMs: nowMs - schedule.periodMs,
    });
    return { read, nowMs, decision: decide({ hpa, ...world, memory, config, nowMs }) };
  };
  let looked = await look(await memories.dependsOnScale(rememberer, clock.nowMs()));
  using _permit = await acting.permits.acquire(signal);
  // What is followed may be outdated: nothing is scaled on its word.
  if (looked.read.isFollowed && looked.decision.scaleTo !== undefined) looked = await look(true, looked.read);
  const { nowMs, decision } = looked;
  const { target } = looked.read;
  let outcome = conclude(decision, hpa, { nowMs });
  if (isDryRun) {
    memories.set(rememberer, decision.memory);
  } else {
    await keep(outcome.memory, { hpa, decision, nowMs, acting });
    if (decision.scaleTo !== undefined && target) {
      const updateError = await writeTargetScale(target, decision.scaleTo, acting);
      if (updateError !== undefined) outcome = conclude(decision, hpa, { nowMs, updateError });
    }
    memories.set(rememberer, outcome.memory);
    for (const event of outcome.events) tell(hpa, acting, event);
    await statuses.write(seen, outcome.status, signal);
  }
  decisions.record(`${namespace}/${name}`, outcome, { hpa, isDryRun });
  series.decided(hpa, outcome, { isDryRun });
  await acting.autoMin.observe(hpa, outcome.explanation, { nowMs, signal });
  return outcome;
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
    series.memoryKept(true);
  } catch (error) {
    acting.signal.throwIfAborted();
    if (series.memoryKept(false))
      logger.error('Cannot keep what is remembered of HPAs; a restart would forget it', error, { namespace });
  }
}

interface ToldEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Tells an event of an HPA, unless nothing is to be changed. */
export function tell(
  { metadata }: FollowedHpa,
  {
    events,
    options,
  }: Pick<HpaDependencies, 'events'> & { readonly options: Pick<HpaLoopOptions, 'isDryRun'> },
  event: ToldEvent,
): void {
  if (options.isDryRun) return;
  const { namespace, name, uid, resourceVersion } = metadata;
  const regarding = {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', namespace, name, uid },
    resourceVersion,
  };
  events.record({ regarding, action: 'Scale', ...event });
}

function invalidPeriod(message: string): ToldEvent {
  return { type: 'Warning', reason: 'InvalidResyncPeriod', message };
}
