import { describeError } from '#lib/telemetry/logger.ts';
import type { Evaluation } from '../metrics/evaluate-triggers.ts';
import { requestsOf } from '../objects/annotations.ts';
import type { ObjectEvents } from '../objects/object-events.ts';
import type { ObjectCondition, ScaledObject } from '../objects/scaled-object.ts';
import type { LoopMemories } from '../scaling/reconcile-context.ts';
import type { ObservedMetric } from '../values/metric-state.ts';
import { CONDITIONS, statusOf } from './scaled-object-conditions.ts';

interface Options {
  readonly own: ObjectEvents;
  readonly memories: LoopMemories;
  readonly key: string;
}

/** What the annotations of an object that is not paused altogether mean for its condition. */
export function pauseConditions(object: ScaledObject): readonly ObjectCondition[] {
  const { isScaleInPaused, isScaleOutPaused } = requestsOf(object);
  if (isScaleInPaused || isScaleOutPaused) return [CONDITIONS.paused];
  return statusOf(object.status?.conditions, 'Paused') === 'True' ? [CONDITIONS.unpaused] : [];
}

/** Tells that a pause of one direction begins, or that a pause ends. */
export function tellUnpaused(object: ScaledObject, { own }: Pick<Options, 'own'>): void {
  const [found] = pauseConditions(object);
  const before = statusOf(object.status?.conditions, 'Paused');
  if (!found || found.status === before) return;
  if (found.status === 'True') own.normal('ScaledObjectPaused', 'ScaledObject is paused');
  else own.normal('ScaledObjectUnpaused', 'pause annotation removed for ScaledObject');
}

/** Tells that the fallback begins or ends to count. */
export function tellFallback(
  object: ScaledObject,
  { isFallingBack }: Evaluation,
  { own }: Pick<Options, 'own'>,
): void {
  const wasFallingBack = statusOf(object.status?.conditions, 'Fallback') === 'True';
  if (isFallingBack && !wasFallingBack)
    own.normal('ScaledObjectFallbackActivated', 'ScaledObject fallback is active');
  if (!isFallingBack && wasFallingBack)
    own.normal('ScaledObjectFallbackDeactivated', 'ScaledObject fallback is no longer active');
}

/** Tells of a trigger that fails, once for each reason. */
export function tellFailures(
  object: ScaledObject,
  observed: readonly ObservedMetric[],
  { own, memories, key }: Options,
): void {
  const { failures } = memories.of(key);
  const names = new Set(observed.map(({ metric }) => metric.metricName));
  for (const name of failures.keys()) if (!names.has(name)) failures.delete(name); // gone, as is the failure of a plan by now
  const reason = object.spec.advanced?.scalingModifiers?.formula
    ? 'KEDAMetricSourceFailed'
    : 'KEDAScalerFailed';
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
