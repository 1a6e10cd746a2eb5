import { describeError } from '#lib/telemetry/error-text.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';
import type { KedaAnnotations } from '../api/annotations.ts';
import { ACTIVE, condition, conditionStatus, type ObjectCondition } from '../api/conditions.ts';
import type { ObjectEvents } from '../api/object-events.ts';
import type { ScaledObject, ScaledObjectStatus } from '../api/scaled-object.ts';
import type { Evaluation } from '../metrics/evaluate-triggers.ts';
import type { ObservedMetric } from '../metrics/metric-state.ts';
import type { PreparedScaledObject } from '../preparation/prepared-scaled-object.ts';
import { preparedMetrics } from '../preparation/prepared-triggers.ts';
import { COMPOSITE_METRIC } from '../preparation/scaling-modifiers.ts';
import type { Decision } from './decide-activation.ts';
import type { EnsuredHpa } from './ensure-hpa.ts';
import type { ScaledObjectStates } from './reconcile-context.ts';

/** Conditions with the exact texts of KEDA. */
export const CONDITIONS = {
  ready: condition(
    'Ready',
    'True',
    'ScaledObjectReady',
    'ScaledObject is defined correctly and is ready for scaling',
  ),
  readyPaused: condition('Ready', 'True', 'ScaledObjectReady', 'ScaledObject is paused'),
  partialError: condition(
    'Ready',
    'Unknown',
    'PartialTriggerError',
    'Some triggers defined in ScaledObject are not working correctly',
  ),
  triggerError: condition(
    'Ready',
    'False',
    'TriggerError',
    'Triggers defined in ScaledObject are not working correctly',
  ),
  ...ACTIVE,
  forced: condition(
    'Active',
    'True',
    'ScalerActive',
    'Scaling is performed because activation is being forced by annotation',
  ),
  cooldown: condition(
    'Active',
    'False',
    'ScalerCooldown',
    'Scaler cooling down because triggers are not active',
  ),
  /** Triggers are not polled. */
  activePaused: condition('Active', 'Unknown', 'ScaledObjectPaused', 'ScaledObject is paused'),
  unknownState: condition('Active', 'Unknown', 'UnknownState', 'ScaledObject check failed'),
  fallback: condition(
    'Fallback',
    'True',
    'FallbackExists',
    'At least one trigger is falling back on this scaled object',
  ),
  noFallback: condition(
    'Fallback',
    'False',
    'NoFallbackFound',
    'No fallbacks are active on this scaled object',
  ),
  paused: condition('Paused', 'True', 'ScaledObjectPaused', 'ScaledObject is paused'),
  unpaused: condition('Paused', 'False', 'ScaledObjectUnpaused', 'pause annotation removed for ScaledObject'),
} as const;

export function checkFailed(message: string): readonly ObjectCondition[] {
  return [condition('Ready', 'False', 'ScaledObjectCheckFailed', message), CONDITIONS.unknownState];
}

export function replicasUnreadable(reason: string): ObjectCondition {
  return condition(
    'Ready',
    'False',
    'ErrorGettingCurrentReplicas',
    `Error getting current replicas count for ScaleTarget: ${reason}`,
  );
}

interface HpaCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The condition HPAActive by the HPA's condition ScalingActive; `undefined` if it has none. */
export function hpaActive(conditions: readonly HpaCondition[] | undefined): ObjectCondition | undefined {
  const found = conditions?.find(({ type }) => type === 'ScalingActive');
  if (!found) return undefined;
  const { status, reason = '', message = '' } = found;
  if (status === 'True') return condition('HPAActive', 'True', 'HPAActive', 'HPA is actively scaling');
  if (reason === 'ScalingDisabled') return condition('HPAActive', 'True', reason, message);
  return condition(
    'HPAActive',
    'False',
    reason || 'HPAMetricsUnavailable',
    `HPA is not actively scaling: ${message}`,
  );
}

/** Status fields that describe the object and its target, without activity and conditions. */
export function describedStatus(
  object: ScaledObject,
  {
    prepared,
    plan,
    target,
    isRetargeted,
  }: Pick<EnsuredHpa, 'plan' | 'target' | 'isRetargeted'> & { readonly prepared: PreparedScaledObject },
): ScaledObjectStatus {
  const { status = {} } = object;
  const { kindText } = prepared.target;
  const { health: _, pausedReplicaCount: _paused, ...before } = status;
  const { group, version, kind, plural } = target.resource;
  const isFirst = isRetargeted || status.scaleTargetKind !== kindText;
  const resources = plan.triggers.flatMap(({ resource }) => (resource ? [resource.resource] : []));
  const { compositeScalerName: _composite, ...rest } = before;
  return {
    ...rest,
    scaleTargetKind: kindText,
    scaleTargetGVKR: { group, version, kind, resource: plural },
    originalReplicaCount: isFirst ? target.replicas : (status.originalReplicaCount ?? target.replicas),
    externalMetricNames: preparedMetrics(plan).map(({ metricName }) => metricName),
    resourceMetricNames: resources,
    ...(prepared.hasFormula && { compositeScalerName: COMPOSITE_METRIC }),
    hpaName: prepared.hpaName,
    ...prepared.statusFields,
  };
}

interface Options {
  readonly prepared: PreparedScaledObject;
  readonly own: ObjectEvents;
  readonly states: ScaledObjectStates;
  readonly key: string;
}

/** The condition Paused of an object that is not paused as a whole. */
export function pauseConditions(
  object: ScaledObject,
  { isScaleInPaused, isScaleOutPaused }: KedaAnnotations,
): readonly ObjectCondition[] {
  if (isScaleInPaused || isScaleOutPaused) return [CONDITIONS.paused];
  return conditionStatus(object.status?.conditions, 'Paused') === 'True' ? [CONDITIONS.unpaused] : [];
}

/** Records an event when a pause of one direction begins, or any pause ends. */
export function recordUnpaused(
  object: ScaledObject,
  { own, prepared }: Pick<Options, 'own' | 'prepared'>,
): void {
  const [found] = pauseConditions(object, prepared.annotations);
  const before = conditionStatus(object.status?.conditions, 'Paused');
  if (!found || found.status === before) return;
  if (found.status === 'True') own.normal('ScaledObjectPaused', 'ScaledObject is paused');
  else own.normal('ScaledObjectUnpaused', 'pause annotation removed for ScaledObject');
}

/** Records an event when a fallback begins or ends. */
export function recordFallback(
  object: ScaledObject,
  { isFallingBack }: Evaluation,
  { own }: Pick<Options, 'own'>,
): void {
  const wasFallingBack = conditionStatus(object.status?.conditions, 'Fallback') === 'True';
  if (isFallingBack && !wasFallingBack)
    own.normal('ScaledObjectFallbackActivated', 'ScaledObject fallback is active');
  if (!isFallingBack && wasFallingBack)
    own.normal('ScaledObjectFallbackDeactivated', 'ScaledObject fallback is no longer active');
}

/** Records an event for each failing metric, once for each error. */
export function recordFailures(
  observed: readonly ObservedMetric[],
  { prepared, own, states, key }: Options,
): void {
  const { failures } = states.of(key);
  const names = new Set(observed.map(({ metric }) => metric.metricName));
  for (const name of failures.keys()) if (!names.has(name)) failures.delete(name); // removed metrics; the key '' of a preparation error too
  const reason = prepared.hasFormula ? 'KEDAMetricSourceFailed' : 'KEDAScalerFailed';
  for (const { metric, state } of observed) {
    if (state.kind === 'pending' || state.kind === 'value') {
      failures.delete(metric.metricName);
      continue;
    }
    const message = describeError(state.error);
    if (failures.get(metric.metricName) === message) continue;
    failures.set(metric.metricName, message);
    own.warning(reason, message);
  }
}

/** Minimum interval for writing `lastActiveTime` while activity continues. */
export const ACTIVE_WRITE_MS = 60_000;

export function readyOf({ ready }: Decision): ObjectCondition {
  if (ready === 'Ready') return CONDITIONS.ready;
  return ready === 'PartialTriggerError' ? CONDITIONS.partialError : CONDITIONS.triggerError;
}

export function activeOf({ active }: Decision): ObjectCondition {
  if (active === 'ScalerActive') return CONDITIONS.active;
  if (active === 'ForcedActive') return CONDITIONS.forced;
  return active === 'ScalerCooldown' ? CONDITIONS.cooldown : CONDITIONS.notActive;
}

/** `lastActiveTime`: written when activity ends, and every {@link ACTIVE_WRITE_MS} while it continues. */
export function activeTime(
  { status }: ScaledObject,
  lastActiveAtMs: number | undefined,
  { isActiveNow }: Decision,
): ScaledObjectStatus {
  if (lastActiveAtMs === undefined) return {};
  const written = status?.lastActiveTime;
  const isRecent = written !== undefined && Math.abs(lastActiveAtMs - Date.parse(written)) < ACTIVE_WRITE_MS;
  return { lastActiveTime: isActiveNow && isRecent ? written : formatTimestamp(lastActiveAtMs) };
}

export function hpaConditions({ status }: EnsuredHpa['hpa']): readonly ObjectCondition[] {
  const found = hpaActive(status?.conditions);
  return found ? [found] : [];
}
