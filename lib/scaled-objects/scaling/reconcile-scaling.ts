import { conditionStatus, setConditions } from '../api/conditions.ts';
import type { ScaledObject, ScaledObjectStatus } from '../api/scaled-object.ts';
import { type Evaluation, evaluateTriggers } from '../metrics/evaluate-triggers.ts';
import { preparedMetrics } from '../preparation/prepared-triggers.ts';
import { type Decision, decide, nextStep } from './decide-activation.ts';
import type { EnsuredHpa } from './ensure-hpa.ts';
import type { ReconcileOptions } from './reconcile-context.ts';
import { setReplicas } from './scale-target.ts';
import {
  ACTIVE_WRITE_MS,
  activeOf,
  activeTime,
  CONDITIONS,
  describedStatus,
  hpaConditions,
  pauseConditions,
  readyOf,
  recordFailures,
  recordFallback,
  recordUnpaused,
} from './scaled-object-status.ts';

type Options = ReconcileOptions & EnsuredHpa & { readonly key: string };

interface ScalingResult {
  readonly status: ScaledObjectStatus;
  /** When to reconcile again at the latest, if nothing changes. */
  readonly againAtMs: number | undefined;
}

/** Evaluates the triggers of an object, scales its target, and builds its status. */
export async function reconcileScaling(object: ScaledObject, options: Options): Promise<ScalingResult> {
  const { prepared, plan, target, plans, states, clock, key } = options;
  const { annotations, bounds } = prepared;
  const state = states.of(key);
  state.replicas.record(target.replicas, clock.nowMs());
  const counted = withHealth(object, options);
  const observed = plans.observe(key, counted, plan);
  const evaluation = evaluateTriggers(prepared, {
    ...{ plan, observed },
    target: {
      replicas: target.replicas,
      readyPods: options.workloads.find(prepared.target.ref)?.readyReplicas,
    },
  });
  recordFailures(observed, options);
  recordFallback(object, evaluation, options);
  recordUnpaused(object, options);
  const base = {
    ...describedStatus(object, options),
    ...(counted.status?.health && { health: counted.status.health }),
  };
  const common = [
    evaluation.isFallingBack ? CONDITIONS.fallback : CONDITIONS.noFallback,
    ...pauseConditions(object, annotations),
    ...hpaConditions(options.hpa),
  ];
  if (evaluation.isPending && !evaluation.isActive && !annotations.isActivationForced) {
    const ready = conditionStatus(object.status?.conditions, 'Ready') === 'True' ? [] : [CONDITIONS.ready];
    return {
      status: {
        ...base,
        conditions: setConditions('ScaledObject', object.status?.conditions, [...ready, ...common]),
      },
      againAtMs: undefined,
    };
  }
  const nowMs = clock.nowMs();
  // Replicas poll between reconciles, and before they lead. At 0 replicas there is no cooldown.
  const polledActiveAtMs = target.replicas > 0 ? plans.lastActiveAtMs(key) : undefined;
  if (polledActiveAtMs !== undefined)
    state.lastActiveAtMs = Math.max(state.lastActiveAtMs ?? polledActiveAtMs, polledActiveAtMs);
  const monotonicMs = clock.monotonicMs();
  // By the monotonic clock, so that a step of the wall clock does not change the age of the activity.
  const recordedAtMs = () =>
    state.lastActiveAtMs === undefined ? undefined : nowMs - (monotonicMs - state.lastActiveAtMs);
  const lastActiveAtMs = latest(recordedAtMs(), object.status?.lastActiveTime, nowMs);
  const input = {
    replicas: target.replicas,
    minReplicas: bounds.min,
    idleReplicas: bounds.idle,
    ...evaluation,
    hasFallback: prepared.fallback !== undefined,
    isForced: annotations.isActivationForced,
    isScaleInPaused: annotations.isScaleInPaused,
    isScaleOutPaused: annotations.isScaleOutPaused,
    cooldownMs: prepared.cooldownMs,
    initialCooldownMs: prepared.initialCooldownMs,
    ...{ nowMs, lastActiveAtMs },
    createdAtMs: Date.parse(object.metadata.creationTimestamp ?? '') || 0,
  };
  const decision = decide(input);
  const isDone = await act(decision, { ...options, evaluation });
  if (isDone && decision.action !== 'none') state.replicas.record(decision.replicas, clock.nowMs());
  const isActiveNow = decision.isActiveNow && isDone;
  if (isActiveNow) state.lastActiveAtMs = monotonicMs;
  state.next = nextStep(input, decision);
  const conditions = setConditions('ScaledObject', object.status?.conditions, [
    readyOf(decision),
    activeOf(decision),
    ...common,
  ]);
  return {
    status: {
      ...base,
      ...activeTime(object, latest(recordedAtMs(), object.status?.lastActiveTime, nowMs), decision),
      triggersActivity: evaluation.triggersActivity,
      conditions,
    },
    // Writes lastActiveTime in time for the next leader, even if the polling interval is longer.
    againAtMs: isActiveNow ? nowMs + ACTIVE_WRITE_MS : decision.againAtMs,
  };
}

/** The object with updated failure counts in its status, if it has a fallback. */
function withHealth(
  object: ScaledObject,
  { plan, prepared: { fallback }, collection, states, key }: Options,
): ScaledObject {
  if (!fallback) return object;
  const polls = preparedMetrics(plan).map(({ metricName }) => ({
    metricName,
    pollCount: collection.pollCount(key, metricName),
    failuresInARow: collection.failure(key, metricName)?.count ?? 0,
  }));
  const health = states.of(key).health.next(object.status?.health, polls, fallback.failureThreshold + 1);
  return { ...object, status: { ...object.status, health } };
}

/** Scales the target. @returns `false` if another client changed the scale first */
async function act(
  { action, replicas }: Decision,
  options: Options & { readonly evaluation: Evaluation },
): Promise<boolean> {
  if (action === 'none') return true;
  const { own, signal, prepared, target, evaluation, logger } = options;
  const { ref, kindText } = prepared.target;
  const change = { from: target.replicas, to: replicas };
  const what = `${kindText} ${ref.namespace}/${ref.name} from ${change.from} to ${change.to}`;
  try {
    const causes = evaluation.activeMetrics.join(';');
    const why = reasonOf(action, { causes, isActive: evaluation.isActive });
    const cause = { by: `scaledobject ${prepared.name}`, why };
    if (!(await setReplicas(ref, { ...change, cause }, options))) return false; // another client changed the scale first: reconcile again
    if (action === 'activate')
      own.normal(
        'KEDAScaleTargetActivated',
        `Scaled ${what}, ${evaluation.isActive ? `triggered by ${causes}` : 'caused by forced activation annotation'}`,
      );
    if (action === 'deactivate') own.normal('KEDAScaleTargetDeactivated', `Deactivated ${what}`);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    logger.error('Cannot scale target', error, { target: what });
    if (action === 'activate') own.warning('KEDAScaleTargetActivationFailed', `Failed to scale ${what}`);
    if (action === 'deactivate')
      own.warning('KEDAScaleTargetDeactivationFailed', `Failed to deactivate ${what}`);
    throw error;
  }
}

/** The reason for the log. */
function reasonOf(
  action: Decision['action'],
  { causes, isActive }: { readonly causes: string; readonly isActive: boolean },
): string {
  if (action === 'deactivate') return 'no trigger was active during the cooldown period';
  if (action === 'activate')
    return isActive ? `triggered by ${causes}` : 'forced by the activation annotation';
  return 'below minReplicaCount';
}

/** The later time, but never after now: a time written by a fast clock must not extend the cooldown. */
function latest(
  recordedMs: number | undefined,
  written: string | undefined,
  nowMs: number,
): number | undefined {
  const times = [recordedMs ?? Number.NaN, Date.parse(written ?? '')].filter((ms) => !Number.isNaN(ms));
  return times.length === 0 ? undefined : Math.min(nowMs, Math.max(...times));
}
