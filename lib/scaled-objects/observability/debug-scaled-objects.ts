import { debugEndpoint } from '#lib/apiserver/debug-endpoint.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { KedaDetector } from '../coexistence/keda-detector.ts';
import type { ObservedMetric } from '../metrics/metric-state.ts';
import type { ScaledObjectStates } from '../scaling/reconcile-context.ts';
import {
  type ObjectReport,
  type ObjectReportOptions,
  reportScaledJobs,
  reportScaledObjects,
} from './object-report.ts';

export interface DebugOptions extends ObjectReportOptions {
  readonly states: ScaledObjectStates;
  readonly clock: Clock;
  readonly kedaDetector: Pick<KedaDetector, 'evidence' | 'evidenceFor'>;
}

/** `/debug/scaled-objects?namespace=&name=`: values of triggers, fallbacks, conditions and the next step of each object. */
export function debugScaledObjects(options: DebugOptions): Endpoint {
  return debugEndpoint(['namespace', 'name'], (query) => {
    const [namespace, name] = [query.get('namespace'), query.get('name')];
    const isMeant = ({ object: { metadata } }: ObjectReport) =>
      (!namespace || metadata.namespace === namespace) && (!name || metadata.name === name);
    return {
      managedByKeda: options.kedaDetector.evidence,
      scaledObjects: [...reportScaledObjects(options)]
        .filter(isMeant)
        .map((report) => stateOf(report, options)),
      scaledJobs: [...reportScaledJobs(options)].filter(isMeant).map((report) => stateOf(report, options)),
    };
  });
}

function stateOf(report: ObjectReport, { states, clock, kedaDetector }: DebugOptions) {
  const { kind, key, object, plan, observed } = report;
  const { status, metadata } = object;
  const leftTo = kedaDetector.evidenceFor(kind, object);
  const next = kind === 'ScaledObject' && leftTo === undefined ? states.nextOf(key) : undefined;
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    managedByKeda: leftTo,
    conditions: Object.fromEntries(
      (status?.conditions ?? []).map(({ type, status: is, message }) => [
        type,
        message ? `${is}: ${message}` : is,
      ]),
    ),
    hpa: status && 'hpaName' in status ? status.hpaName : undefined,
    lastActiveTime: status?.lastActiveTime,
    next: next?.what,
    nextInMs: next?.atMs === undefined ? undefined : Math.max(0, Math.round(next.atMs - clock.nowMs())),
    triggers: plan?.triggers.map(({ type, name, metrics, resource, error }) => ({
      ...{ type, name, resource: resource?.resource },
      error: error && describeError(error),
      metrics: observed.filter((one) => metrics.includes(one.metric)).map((one) => metricOf(one, report)),
    })),
  };
}

function metricOf({ metric, state }: ObservedMetric, { key, collection, object, activity }: ObjectReport) {
  const { metricName, query, target, targetType } = metric;
  const failure = collection.failure(key, metricName);
  const record = collection.record(key, metricName);
  const current = activity?.of(metricName);
  const health = object.status && 'health' in object.status ? object.status.health : undefined;
  return {
    metric: metricName,
    query: query.description,
    state: state.kind,
    values: state.kind === 'value' ? state.values : undefined,
    ...{ target, targetType },
    isActive: state.kind === 'value' ? state.isActive : undefined,
    activeSince: current?.isActive ? timeText(current.sinceMs) : undefined,
    inactiveSince: current?.isActive === false ? timeText(current.sinceMs) : undefined,
    error: state.kind === 'failing' || state.kind === 'fallback' ? describeError(state.error) : undefined,
    failingSince: failure && timeText(failure.sinceMs),
    failures: failure?.count,
    countedFailures: getOwn(health, metricName)?.numberOfFailures,
    tookMs: record && Math.round(record.durationMs),
    nextInMs: Math.round(collection.nextInMs(key, metricName) ?? 0),
  };
}

function timeText(atMs: number): string {
  return new Date(atMs).toISOString();
}
