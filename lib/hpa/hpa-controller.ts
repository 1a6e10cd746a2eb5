import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { setCondition } from '#lib/control/conditions.ts';
import { type Controller, DONE } from '#lib/control/controller.ts';
import type { EventRecorder, EventText } from '#lib/control/event-recorder.ts';
import type { SharedInformer } from '#lib/kubernetes/informer/shared-informers.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { RetryDelays } from '#lib/time/backoff.ts';
import type { Clock } from '#lib/time/clock.ts';
import { conclude } from './decision/conclude.ts';
import { decideInSteps } from './decision/decide.ts';
import type { Decision, Outcome } from './decision/decision.ts';
import type { HpaConfig } from './decision/decision-input.ts';
import type { ScalingState } from './decision/scaling-state.ts';
import {
  type ExternalControllers,
  reportExternalController,
  withoutElsewhere,
  writtenByOtherAtMs,
} from './external-controllers.ts';
import { excessCondition, HpaBudget } from './hpa-budget.ts';
import type { HpaStatusWriter } from './hpa-status-writer.ts';
import type { HpaInputs, InputsReader } from './inputs/inputs-reader.ts';
import { type TargetScales, writeTargetScale } from './inputs/target-scales.ts';
import type { AutoMinOptions, AutoMinReplicas } from './min-replicas/auto-min-replicas.ts';
import type { DecisionLog } from './observability/decision-log.ts';
import type { HpaSeries } from './observability/hpa-series.ts';
import { findStateWindows } from './state/persisted-state.ts';
import type { ScalingStates } from './state/scaling-states.ts';
import { DueHpas, hasSameSpec, type SyncSchedule, syncSchedule, untilNextMs } from './sync-schedule.ts';

/** Number of periods without a write after which another controller is considered inactive. */
const QUIET_PERIODS = 3;

/** Delays before an HPA without a decision is evaluated again: its metric may have its first value within a second. */
const RETRY = { firstMs: 1000, maxMs: 60_000 };

/** Scales targets by metrics. Create one per leadership term. */
export function hpaController(dependencies: HpaDependencies): Controller {
  const { hpas, pods, inputsReader, statuses, states, autoMin, others, decisions, series, clock, options } =
    dependencies;
  const due = new DueHpas();
  const retries = new RetryDelays(RETRY);
  const permits = new FairSemaphore(options.concurrentSyncs);
  const budget = new HpaBudget();
  const forgetDecisions = (key: string) => {
    const { namespace = '', name } = nameOfKey(key);
    due.remove(key);
    retries.succeeded(key);
    decisions.remove(key);
    inputsReader.remove(key);
    series.remove(namespace, name);
  };
  return {
    name: 'hpa',
    watches: [hpas, { onChange: () => () => {}, synced: (signal) => pods.synced(signal) }],
    async reconcile(key, signal) {
      const hpa = statuses.latest(key, hpas.find(key));
      if (!hpa || !options.selector.matches(hpa.metadata.labels ?? {})) {
        const { namespace = '', name } = nameOfKey(key);
        budget.delete(key);
        forgetDecisions(key);
        if (!hpa) others.observe(key, undefined, undefined); // a status may have been sent after its deletion
        await states.remove(namespace, name, { isRetained: options.isDryRun });
        await autoMin.remove(namespace, name);
        if (!due.hasHpas(namespace)) states.release(namespace);
        return DONE;
      }
      const schedule = syncSchedule(hpa, options.syncPeriodMs);
      const excess = budget.findExcess(key, hpa);
      if (excess !== undefined) {
        forgetDecisions(key);
        await states.remove(hpa.metadata.namespace, hpa.metadata.name, { isRetained: true });
        if (!others.lately(key, QUIET_PERIODS * schedule.periodMs))
          await reportExcess(hpa, excess, { ...dependencies, signal });
        return hpa.isReduced ? DONE : { requeueAfterMs: schedule.periodMs };
      }
      due.add(key, hpa.metadata.namespace, schedule.periodMs);
      const waitMs = due.untilDueMs(key, hpa, clock.monotonicMs());
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const isChanged = due.isNew(key, hpa);
      if (isChanged) retries.succeeded(key);
      const dueAtMs = clock.monotonicMs() + waitMs;
      if (schedule.problem && isChanged) recordEvent(hpa, dependencies, invalidPeriod(schedule.problem));

      let retryMs = Number.POSITIVE_INFINITY;
      const other = options.isDryRun ? undefined : others.lately(key, QUIET_PERIODS * schedule.periodMs);
      if (other) {
        const { status, event } = reportExternalController(hpa, other, { nowMs: clock.nowMs(), ...schedule });
        decisions.recordExternal(key, other, clock.nowMs());
        recordEvent(hpa, dependencies, event);
        await statuses.write(hpa, status, signal);
      } else {
        const startedAtMs = clock.monotonicMs();
        const outcome = await decideAndScale(hpa, {
          schedule,
          due,
          retries,
          permits,
          signal,
          ...dependencies,
        });
        if (!outcome) return { requeueAfterMs: 1 };
        series.reconciled(outcome, clock.monotonicMs() - startedAtMs);
        if (isUndecided(outcome)) retryMs = retries.failed(key);
        else retries.succeeded(key);
      }
      const nowMs = clock.monotonicMs();
      if (!isChanged) series.late(nowMs - dueAtMs);
      const untilMs = Math.min(untilNextMs(schedule, nowMs), retryMs);
      due.decided(key, hpa, nowMs + untilMs);
      return { requeueAfterMs: untilMs };
    },
  };
}

/** Whether a metric or another input was missing, and nothing was scaled. */
function isUndecided({ explanation, desiredReplicas }: Outcome): boolean {
  return explanation.problem !== undefined && desiredReplicas === undefined;
}

/** Reports once that an HPA is not decided, since it exceeds the budget of its namespace. */
async function reportExcess(
  hpa: Hpa,
  message: string,
  { statuses, signal, ...context }: HpaDependencies & { readonly signal: AbortSignal },
): Promise<void> {
  const condition = excessCondition(message);
  const conditions = hpa.status?.conditions ?? [];
  const isReported = setCondition(conditions, condition, context.clock.nowMs()) === conditions;
  if (context.options.isDryRun || isReported) return;
  recordEvent(hpa, context, { type: 'Warning', reason: condition.reason ?? '', message });
  await statuses.setCondition(hpa, condition, signal);
}

function invalidPeriod(message: string): EventText {
  return { type: 'Warning', reason: 'InvalidResyncPeriod', message };
}

interface ReconcileContext extends HpaDependencies {
  readonly schedule: SyncSchedule;
  readonly due: DueHpas;
  readonly retries: Pick<RetryDelays, 'delayMs'>;
  /** Bounds concurrent HPAs, shared fairly among namespaces. */
  readonly permits: FairSemaphore;
  readonly signal: AbortSignal;
}

/** Inputs older than this are read again, also with longer periods. */
const MAX_AGE_MS = 15_000;
/** After waiting this long for a permit, an HPA is decided by new inputs. */
const MAX_WAIT_MS = 1000;

/**
 * Decides one HPA and applies the decision: persists its state, scales, and reports.
 *
 * @returns `undefined` when the HPA changed while it waited, or before it was scaled: it has to be decided again
 */
async function decideAndScale(observed: Hpa, context: ReconcileContext): Promise<Outcome | undefined> {
  const { inputsReader, states, statuses, decisions, series, schedule, due, share, clock, signal } = context;
  const { config, isDryRun } = context.options;
  const { namespace, name, uid } = observed.metadata;
  const hpa = withoutElsewhere(observed);
  // A retry must not read the response again that had no value.
  const retryMs = context.retries.delayMs(`${namespace}/${name}`) ?? Number.POSITIVE_INFINITY;
  const maxAgeMs = Math.min(due.minPeriodMs(namespace) / 2, retryMs / 2, MAX_AGE_MS);
  const ref = { namespace, name, uid };
  const evaluate = async (isFresh: boolean, earlier?: HpaInputs) => {
    const read = await inputsReader.read(hpa, { maxAgeMs, signal, isFresh, earlier });
    const { target, scale, pods, selectionError, overlapping, readings } = read;
    const nowMs = clock.nowMs();
    const memory = await states.get(ref, {
      currentReplicas: target?.specReplicas,
      decidedAtMs: nowMs - schedule.periodMs,
      otherDecidedAtMs: writtenByOtherAtMs(hpa),
    });
    const inputs = { hpa, scale, pods, selectionError, overlapping, readings, memory, config, nowMs };
    const steps = decideInSteps(inputs);
    return { read, nowMs, decision: await share.runSteps(steps, { tenant: namespace, signal }) };
  };
  let evaluation = await evaluate(await states.dependsOnScale(ref, clock.nowMs()));
  const decidedAtMs = clock.monotonicMs();
  using _permit = await context.permits.acquire(namespace, signal);
  const isLate = clock.monotonicMs() - decidedAtMs >= MAX_WAIT_MS;
  if (isLate && hasChanged(observed, context)) return undefined;
  // Cached and old inputs may be outdated: before scaling they are read again.
  if (evaluation.decision.scaleTo !== undefined && (isLate || evaluation.read.isCached))
    evaluation = await evaluate(true, isLate ? undefined : evaluation.read);
  const { nowMs, decision } = evaluation;
  if (decision.scaleTo !== undefined && hasChanged(observed, context)) return undefined;
  const { target } = evaluation.read;
  let outcome = conclude(decision, hpa, { nowMs });
  const cause = { by: `hpa ${name}`, why: withoutSelector(decision.scaleReason) || 'limits of the HPA' };
  if (isDryRun) {
    if (decision.scaleTo !== undefined && target)
      await writeTargetScale(target, decision.scaleTo, { ...context, cause }); // logs the change
    states.set(ref, decision.memory);
  } else {
    await persist(outcome.memory, { hpa, decision, nowMs, context });
    if (decision.scaleTo !== undefined && target) {
      const updateError = await writeTargetScale(target, decision.scaleTo, { ...context, cause });
      if (updateError !== undefined) outcome = conclude(decision, hpa, { nowMs, updateError });
      // A later step may fail and be retried, which must not scale twice in a period.
      const scaledAtMs = clock.monotonicMs();
      due.decided(`${namespace}/${name}`, observed, scaledAtMs + untilNextMs(schedule, scaledAtMs));
    }
    states.set(ref, outcome.memory);
    for (const event of outcome.events) recordEvent(hpa, context, event);
    await statuses.write(observed, outcome.status, signal);
  }
  decisions.record(`${namespace}/${name}`, outcome, { hpa, isDryRun, problem: schedule.problem });
  series.decided(hpa, outcome, { isDryRun, tookMs: evaluation.read.tookMs });
  await context.autoMin.observe(hpa, outcome.explanation, { nowMs, signal });
  return outcome;
}

/** Whether an HPA was changed by its user, or deleted. */
function hasChanged(observed: Hpa, { hpas, statuses }: ReconcileContext): boolean {
  const key = `${observed.metadata.namespace}/${observed.metadata.name}`;
  const now = statuses.latest(key, hpas.find(key));
  return !now || !hasSameSpec(now, observed);
}

interface PersistOptions {
  readonly hpa: Hpa;
  readonly decision: Decision;
  readonly nowMs: number;
  readonly context: ReconcileContext;
}

/** Persists the state of an HPA. A failure does not block scaling, which matters more. */
async function persist(
  memory: ScalingState,
  { hpa, decision, nowMs, context }: PersistOptions,
): Promise<void> {
  const { states, series, options, logger } = context;
  const { scaleTo, status } = decision;
  const from = status?.currentReplicas;
  const intent =
    scaleTo === undefined || from === undefined || !hpa.spec.behavior
      ? undefined
      : { from, to: scaleTo, atMs: nowMs };
  const windows = findStateWindows(hpa.spec, options.config);
  const { namespace, name, uid } = hpa.metadata;
  try {
    const currentReplicas = scaleTo === undefined ? from : undefined;
    await states.persist({ namespace, name, uid }, memory, { currentReplicas, windows, intent, nowMs });
    series.persisted(namespace, name);
  } catch (error) {
    context.signal.throwIfAborted();
    if (series.persistFailed(namespace, name))
      logger.error('Cannot persist HPA state; it will be lost on restart', error, {
        namespace,
        name,
      });
  }
}

/** Flags of the controller. */
export interface HpaLoopOptions {
  readonly syncPeriodMs: number;
  /** Concurrent HPAs; more may wait for their metrics. */
  readonly concurrentSyncs: number;
  readonly config: HpaConfig;
  /** Selects the HPAs to manage. */
  readonly selector: LabelSelector;
  /** Decides and reports without writing. */
  readonly isDryRun: boolean;
  /** Automatic minReplicas. */
  readonly autoMin: AutoMinOptions;
}

interface HpaDependencies {
  readonly hpas: Pick<SharedInformer<Hpa>, 'find' | 'onChange' | 'synced'>;
  readonly pods: { synced(signal: AbortSignal): Promise<void> };
  readonly inputsReader: InputsReader;
  readonly scales: Pick<TargetScales, 'set'>;
  readonly statuses: HpaStatusWriter;
  readonly states: ScalingStates;
  readonly autoMin: Pick<AutoMinReplicas, 'observe' | 'remove'>;
  readonly others: ExternalControllers;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly decisions: DecisionLog;
  readonly series: HpaSeries;
  /** Where HPAs are decided. */
  readonly share: EventLoopShare;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly options: HpaLoopOptions;
}

/**
 * Shortens a reason of Kubernetes for the log: `external metric queue-depth above target`, where the event has the selector
 * of the metric behind its name, as Go prints it.
 */
export function withoutSelector(reason: string): string {
  const ending = ') above target';
  const start = ['(nil)', '(&LabelSelector{'].map((opening) => reason.indexOf(opening)).find((at) => at >= 0);
  if (start === undefined || !reason.endsWith(ending)) return reason;
  return `${reason.slice(0, start)}${ending.slice(1)}`;
}

interface EventOptions {
  readonly events: Pick<EventRecorder, 'record'>;
  readonly options: { readonly isDryRun: boolean };
}

/** Records an event of an HPA, unless it is a dry run. */
export function recordEvent({ metadata }: Hpa, { events, options }: EventOptions, event: EventText): void {
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
