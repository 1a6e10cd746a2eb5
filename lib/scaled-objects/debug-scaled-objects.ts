import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { methodNotAllowed } from '#lib/apiserver/http/failures.ts';
import { writeBody } from '#lib/apiserver/http/write-response.ts';
import type { Collection } from '#lib/collection/collection.ts';
import { keyOf } from '#lib/kubernetes/kubernetes-object.ts';
import { describeError } from '#lib/telemetry/logger.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { LoopMemories } from './loop/loop-memory.ts';
import type { ScaledObject } from './objects/scaled-object.ts';
import type { ScaledObjectPlans } from './plan/scaled-object-plans.ts';
import type { ObservedMetric } from './values/metric-state.ts';

/** What is looked at. */
export interface DebugOptions {
  readonly objects: { values(): Iterable<ScaledObject> };
  readonly plans: ScaledObjectPlans;
  readonly collection: Collection;
  readonly memories: LoopMemories;
  readonly clock: Clock;
}

/** `/debug/scaled-objects?namespace=&name=`: what triggers told, what counts of it, and what happens next. */
export function debugScaledObjects(options: DebugOptions): Endpoint {
  return (context) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') throw methodNotAllowed();
    const { query } = context.state;
    const [namespace, name] = [query.get('namespace'), query.get('name')];
    const scaledObjects = [...options.objects.values()]
      .filter(({ metadata }) => !namespace || metadata.namespace === namespace)
      .filter(({ metadata }) => !name || metadata.name === name)
      .map((object) => stateOf(object, options));
    const text = JSON.stringify({ scaledObjects }, undefined, 2);
    writeBody(context, Buffer.from(`${printableLines(text)}\n`), 'json');
  };
}

function stateOf(object: ScaledObject, { plans, collection, memories, clock }: DebugOptions) {
  const key = keyOf(object.metadata);
  const plan = plans.find(key, object);
  const observed = plan ? plans.observe(key, object, plan) : [];
  const { next } = memories.of(key);
  const { status } = object;
  return {
    namespace: object.metadata.namespace,
    name: object.metadata.name,
    conditions: Object.fromEntries(
      (status?.conditions ?? []).map(({ type, status: is, message }) => [
        type,
        message ? `${is}: ${message}` : is,
      ]),
    ),
    hpa: status?.hpaName,
    lastActiveTime: status?.lastActiveTime,
    next:
      next &&
      `${next.what} in ${Math.max(0, Math.round((next.atMs - clock.nowMs()) / 1000))} s unless a trigger is active`,
    triggers: plan?.triggers.map(({ type, name, metrics, resource, error }) => ({
      ...{ type, name, resource: resource?.resource },
      error: error && describeError(error),
      metrics: observed
        .filter((one) => metrics.includes(one.metric))
        .map((one) => metricOf(one, { key, collection, object })),
    })),
  };
}

function metricOf(
  { metric, state }: ObservedMetric,
  {
    key,
    collection,
    object,
  }: { readonly key: string; readonly collection: Collection; readonly object: ScaledObject },
) {
  const failure = collection.failure(key, metric.metricName);
  return {
    metric: metric.metricName,
    query: metric.query.description,
    state: state.kind,
    values: state.kind === 'value' ? state.values : undefined,
    target: metric.target,
    targetType: metric.targetType,
    isActive: state.kind === 'value' ? state.isActive : undefined,
    error: state.kind === 'failing' || state.kind === 'fallback' ? describeError(state.error) : undefined,
    failingSince: failure && new Date(failure.sinceMs).toISOString(),
    failures: failure?.count,
    countedFailures: object.status?.health?.[metric.metricName]?.numberOfFailures,
    nextInMs: Math.round(collection.nextInMs(key, metric.metricName) ?? 0),
  };
}
