import { StatusError } from '#lib/apiserver/http/status-error.ts';
import { failureText } from '#lib/collection/failure-text.ts';
import type { StoredExternalMetric } from '#lib/collection/metric-store.ts';
import type { MetricValue } from '#lib/collection/metrics-provider.ts';
import { formatThousandths } from '#lib/kubernetes/quantity.ts';
import { NAME_LABEL } from '../api/resources.ts';
import type { PreparedScaledObject } from '../preparation/prepared-scaled-object.ts';
import { type PreparedTriggers, preparedMetrics } from '../preparation/prepared-triggers.ts';
import { COMPOSITE_METRIC } from '../preparation/scaling-modifiers.ts';
import { evaluateComposite } from './evaluate-triggers.ts';
import { fallbackValue } from './fallback.ts';
import type { ObservedMetric } from './metric-state.ts';

/**
 * The external metrics that are served for an object; with a formula, only the composite metric.
 *
 * @param valuesOf called for each request with a metric name
 */
export function servedMetrics(
  {
    namespace,
    name,
    modifiers,
    modifiersError,
  }: Pick<PreparedScaledObject, 'namespace' | 'name' | 'modifiers' | 'modifiersError'>,
  plan: PreparedTriggers,
  valuesOf: (metricName: string) => readonly MetricValue[],
): readonly StoredExternalMetric[] {
  const stored = (metricName: string): StoredExternalMetric => ({
    namespace,
    name: metricName,
    labels: { [NAME_LABEL]: name },
    identity: `${namespace}/${name} ${metricName}`,
    values: () => valuesOf(metricName),
  });
  if (modifiersError) return []; // reported in the condition
  if (modifiers) return [stored(COMPOSITE_METRIC)];
  return preparedMetrics(plan).map(({ metricName }) => stored(metricName));
}

interface ServedState {
  readonly prepared: Pick<PreparedScaledObject, 'modifiers' | 'fallback'>;
  readonly observed: readonly ObservedMetric[];
  readonly target: { readonly replicas: number | undefined; readonly readyPods: number | undefined };
  readonly nowMs: number;
}

/**
 * The current values of a metric, or those of the fallback; a failing metric is an error, never 0.
 *
 * @throws {StatusError} with code 500 and the cause if there is neither; the condition of the HPA shows it
 */
export function servedValues(
  metricName: string,
  { prepared, observed, target, nowMs }: ServedState,
): readonly MetricValue[] {
  const failed = (cause?: Error) => {
    const why = cause ? `: ${failureText(cause)}` : '';
    return new StatusError(500, 'InternalError', `metric:${metricName} encountered error${why}`, { cause });
  };
  const { modifiers, fallback } = prepared;
  if (modifiers) {
    const composite = evaluateComposite(observed, { ...target, modifiers, fallback });
    if (composite.kind !== 'value') throw failed(composite.kind === 'failing' ? composite.error : undefined);
    return [{ value: formatTruncated(composite.value), takenAtMs: nowMs }];
  }
  const found = observed.find(({ metric }) => metric.metricName === metricName);
  if (!found || found.state.kind === 'pending') throw failed();
  const { state, metric } = found;
  if (state.kind === 'value')
    return state.values.map((value) => ({ value: formatAmount(value), takenAtMs: state.atMs }));
  const value =
    state.kind === 'fallback' && fallback
      ? fallbackValue(metric, fallback, { ...target, modifiers })
      : undefined;
  if (value === undefined) throw failed(state.error);
  return [{ value: formatTruncated(value), takenAtMs: nowMs }];
}

/** Doubles beyond this cannot represent thousandths. */
const MAX_EXACT = Number.MAX_SAFE_INTEGER / 1000;
/** Above the maximum of quantities (2^63), and small enough that 1,000 times it is finite. */
const MAX_AMOUNT = 1e19;

/**
 * Formats a number as a quantity, rounded half to even to thousandths. Negative numbers, NaN and infinity are 0.
 */
export function formatAmount(value: number): string {
  if (!(value > 0) || value === Number.POSITIVE_INFINITY) return '0';
  if (value > MAX_EXACT) return formatThousandths(BigInt(Math.round(value)) * 1000n);
  return formatThousandths(BigInt(nearestThousandths(value)));
}

/** As {@link formatAmount}, but truncated to thousandths. */
export function formatTruncated(value: number): string {
  if (!(value > 0) || value === Number.POSITIVE_INFINITY) return '0';
  return formatThousandths(BigInt(Math.trunc(Math.min(value, MAX_AMOUNT) * 1000)));
}

function nearestThousandths(value: number): number {
  const sixteenths = value * 16;
  const halves = sixteenths * 125; // of thousandths: exact for whole sixteenths
  if (Number.isInteger(sixteenths) && halves % 2 === 1) {
    const below = (halves - 1) / 2;
    return below % 2 === 0 ? below : below + 1;
  }
  return Number(value.toFixed(3).replace('.', ''));
}
