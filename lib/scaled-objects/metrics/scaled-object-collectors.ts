import type { Collection, Collector } from '#lib/collection/collection.ts';
import type { MetricStore } from '#lib/collection/metric-store.ts';
import type { MetricValue } from '#lib/collection/metrics-provider.ts';
import { PacedKeys } from '#lib/concurrency/paced-keys.ts';
import type { Controller, Watched } from '#lib/control/controller.ts';
import { KeyEmitter } from '#lib/control/key-emitter.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import type { Workloads } from '../api/target-workloads.ts';
import { PreparedObjects, type PreparedObjectsOptions, REREAD_MS } from '../preparation/prepared-objects.ts';
import {
  compileScaledObject,
  type PreparedScaledObject,
  type PreparedTarget,
} from '../preparation/prepared-scaled-object.ts';
import { type PreparedTriggers, preparationError } from '../preparation/prepared-triggers.ts';
import { COMPOSITE_METRIC } from '../preparation/scaling-modifiers.ts';
import { UnreadReference } from '../triggers/authentication/reference-reader.ts';
import { evaluateTriggers } from './evaluate-triggers.ts';
import { servedMetrics, servedValues } from './external-metrics.ts';
import { ActivityLog, evaluationPauseMs, type ObservedMetric, observeMetrics } from './metric-state.ts';
import { PushScalerStreams } from './pushed-triggers.ts';
import { ScaleCache } from './scale-cache.ts';

interface ScaledObjectCollectorsOptions
  extends Omit<
    PreparedObjectsOptions<ScaledObject, PreparedScaledObject>,
    'kind' | 'compile' | 'collection' | 'readWorkload'
  > {
  readonly collection: Collection;
  /** Reads the target object from the API server. */
  readonly readTarget: (target: PreparedTarget['ref'], signal: AbortSignal) => Promise<unknown>;
  readonly objects: Watched & { find(key: string): ScaledObject | undefined };
  /** Changes of authentications and targets, with the keys of objects that refer to them. */
  readonly related: readonly Watched[];
  readonly workloads: Workloads;
  readonly scales: Pick<ScaleClient, 'get'>;
  readonly store: MetricStore;
}

/** Maximum polling interval while there are replicas: the sync period of HPAs. */
const HPA_SYNC_MS = 15_000;

/**
 * Reconciles ScaledObjects with their collectors and served metrics, in every replica: triggers → collectors → external
 * metrics.
 */
export class ScaledObjectCollectors implements Disposable {
  readonly #options: ScaledObjectCollectorsOptions;
  readonly #prepared: PreparedObjects<ScaledObject, PreparedScaledObject>;
  readonly #stale = new KeyEmitter();
  readonly #listeners = new Map<string, () => void>();
  readonly #pushes: PushScalerStreams;
  readonly #scales: ScaleCache;
  readonly #activities = new Map<string, ActivityLog>();
  readonly #failedCounts = new Map<string, number>();
  readonly #pollChanges = new PollChangeDetector();
  readonly #evaluations: PacedKeys;
  /** Keys of objects that wait for their turn to be evaluated. */
  readonly #waiting = new Set<string>();
  readonly #disposal = new AbortController();
  /** Keys of objects whose triggers or values have changed. */
  readonly changed = new KeyEmitter();

  constructor(options: ScaledObjectCollectorsOptions) {
    this.#options = options;
    this.#prepared = new PreparedObjects({
      ...options,
      ...{ kind: 'ScaledObject', compile: compileScaledObject },
      readWorkload: ({ prepared }, signal) => options.readTarget(prepared.target.ref, signal),
    });
    this.#pushes = new PushScalerStreams(options);
    this.#scales = new ScaleCache(options);
    this.#evaluations = new PacedKeys({
      clock: options.clock,
      release: (key) => this.#evaluateInTurn(key),
      pauseMs: (key) => evaluationPauseMs(this.#prepared.findTriggers(key)),
    });
  }

  /** The prepared triggers of an object; `undefined` while those of this generation are not prepared. */
  find(key: string, { metadata }: ScaledObject): PreparedTriggers | undefined {
    const plan = this.#prepared.findTriggers(key);
    return plan?.uid === metadata.uid && plan?.generation === metadata.generation ? plan : undefined;
  }

  /** The compiled spec and annotations of an object. */
  prepared(object: ScaledObject): PreparedScaledObject {
    return this.#prepared.get(object);
  }

  observe(
    key: string,
    object: ScaledObject,
    plan: Pick<PreparedTriggers, 'triggers'>,
  ): readonly ObservedMetric[] {
    const { collection } = this.#options;
    return observeMetrics(plan, {
      owner: key,
      collection,
      fallback: this.prepared(object).fallback,
      health: object.status?.health,
      isPushed: (trigger) => this.#pushes.isPushed(key, trigger),
    });
  }

  activity(key: string): ActivityLog | undefined {
    return this.#activities.get(key);
  }

  /**
   * Time of the last poll by this replica, leader or not, with an active trigger, by the monotonic clock; `undefined` if there
   * was none.
   */
  lastActiveAtMs(key: string): number | undefined {
    return this.#pollChanges.lastActiveAtMs(key);
  }

  /** How often preparing the triggers of an object failed. */
  failedCount(key: string): number {
    return this.#failedCounts.get(key) ?? 0;
  }

  controller(): Controller {
    const { objects, related, authenticationsOf } = this.#options;
    return {
      name: 'scaledobject-collectors',
      watches: [objects, ...related, this.#stale],
      reconcile: async (key, signal) => {
        const object = objects.find(key);
        const isUsed = object && object.omitted === undefined && !object.metadata.deletionTimestamp;
        if (!isUsed || this.prepared(object).annotations.isPaused) {
          this.#drop(key);
          return {};
        }
        const previous = this.#prepared.findTriggers(key);
        if (previous && previous.uid !== object.metadata.uid) this.#drop(key); // deleted and created again
        const plan = await this.#prepared.prepareTriggers(object, signal);
        this.#collect(key, object, plan);
        this.changed.notify(key);
        const error = preparationError(plan);
        if (error instanceof UnreadReference) throw error; // logged, and retried
        if (error) this.#failedCounts.set(key, this.failedCount(key) + 1);
        if (error) return { requeueAfterMs: this.prepared(object).pollingMs };
        return authenticationsOf(object).length > 0 ? { requeueAfterMs: REREAD_MS } : {};
      },
    };
  }

  #collect(key: string, object: ScaledObject, plan: PreparedTriggers): void {
    const { collection, store, workloads } = this.#options;
    const prepared = this.prepared(object);
    const { pollingMs, target, namespace: tenant } = prepared;
    const replicas = target.isWorkload ? (workloads.find(target.ref)?.replicas ?? 0) : 1;
    const onPolled = this.#listenerOf(key);
    const collectors = plan.triggers.flatMap(({ metrics, isCached }) => {
      const intervalMs = replicas > 0 && !isCached ? Math.min(pollingMs, HPA_SYNC_MS) : pollingMs;
      const polling = {
        intervalMs,
        isSteady: true,
        onPolled,
        tenant,
      };
      return metrics.map(({ metricName, query }): [string, Collector] => [metricName, { query, ...polling }]);
    });
    collection.replace(key, new Map(collectors));
    this.#pushes.replace(key, plan.triggers, { onPushed: onPolled });
    const valuesOf = (metricName: string) => this.#values(key, metricName);
    store.put(`ScaledObject ${key}`, {
      external: servedMetrics(prepared, plan, valuesOf),
    });
  }

  /** Returns the same function for the lifetime of an object, so that unchanged collectors are not replaced. */
  #listenerOf(key: string): () => void {
    const existing = this.#listeners.get(key);
    if (existing) return existing;
    const listener = () => this.#evaluations.add(key);
    this.#listeners.set(key, listener);
    return listener;
  }

  /** Evaluates in the turn of the namespace: thousands of objects may share one poll, and a formula may take a millisecond. */
  #evaluateInTurn(key: string): void {
    if (this.#waiting.has(key)) return;
    this.#waiting.add(key);
    this.#options.share.schedule(nameOfKey(key).namespace, () => {
      this.#waiting.delete(key);
      if (!this.#disposal.signal.aborted) this.#evaluate(key);
    });
  }

  /** Evaluates the polls and pushes since the last call. */
  #evaluate(key: string): void {
    const object = this.#options.objects.find(key);
    const plan = this.#prepared.findTriggers(key);
    if (!object || !plan) return;
    const observed = this.observe(key, object, plan);
    const { clock } = this.#options;
    const monotonicMs = clock.monotonicMs();
    const prepared = this.prepared(object);
    const countsValues = prepared.modifiers !== undefined;
    // The controller reconciles unchanged objects once per polling interval anyway.
    const isActive = this.#isActive(prepared, plan, observed);
    if (!this.#pollChanges.isUnchanged(key, observed, { countsValues, isActive, monotonicMs }))
      this.changed.notify(key);
    this.#activityOf(key).record(observed, clock.nowMs());
    this.#readScale(key, prepared);
    if (!this.#prepared.isCurrent(object)) this.#stale.notify(key);
  }

  /** Whether this counts as activity for the cooldown: as in KEDA, not while another trigger fails. */
  #isActive(
    prepared: PreparedScaledObject,
    plan: PreparedTriggers,
    observed: readonly ObservedMetric[],
  ): boolean {
    if (prepared.modifiersError) return false; // reported in the condition
    const workload = this.#options.workloads.find(prepared.target.ref);
    const target = { replicas: workload?.replicas, readyPods: workload?.readyReplicas };
    const { isActive, hasError } = evaluateTriggers(prepared, { plan, observed, target });
    return isActive && !hasError && !preparationError(plan);
  }

  /** Reads the scale of a target that no informer caches, if a fallback needs its replicas. */
  #readScale(key: string, { target, needsReplicas }: PreparedScaledObject, freshMs = 0): void {
    if (!needsReplicas || target.isWorkload) return;
    if (this.#prepared.isFailing(key)) this.#scales.read(key, target.ref, freshMs);
  }

  #activityOf(key: string): ActivityLog {
    const activity = this.#activities.get(key) ?? new ActivityLog();
    this.#activities.set(key, activity);
    return activity;
  }

  /** The values of a metric for a request of an HPA. */
  #values(key: string, metricName: string): readonly MetricValue[] {
    const object = this.#options.objects.find(key);
    const plan = this.#prepared.findTriggers(key);
    if (!object || !plan) return [];
    const prepared = this.prepared(object);
    const target = prepared.target.ref;
    const workload = this.#options.workloads.find(target);
    this.#readScale(key, prepared, HPA_SYNC_MS); // HPAs may request values far more often than sources are polled
    const replicas = workload?.replicas ?? this.#scales.replicas(key, target, prepared.pollingMs);
    const observed = this.observe(
      key,
      object,
      metricName === COMPOSITE_METRIC ? plan : onlyMetric(plan, metricName),
    );
    return servedValues(metricName, {
      ...{ prepared, observed },
      target: { replicas, readyPods: workload?.readyReplicas },
      nowMs: this.#options.clock.nowMs(),
    });
  }

  [Symbol.dispose](): void {
    this.#disposal.abort(new Error('disposed of'));
    this.#pushes[Symbol.dispose]();
    this.#scales[Symbol.dispose]();
    this.#evaluations[Symbol.dispose]();
  }

  #drop(key: string): void {
    const { collection, store } = this.#options;
    collection.replace(key, new Map());
    this.#pushes.replace(key, [], {});
    store.remove(`ScaledObject ${key}`);
    this.#listeners.delete(key);
    this.#evaluations.delete(key);
    this.#scales.delete(key);
    this.#activities.delete(key);
    this.#failedCounts.delete(key);
    this.#pollChanges.delete(key);
    if (this.#prepared.delete(key)) this.changed.notify(key);
  }
}

/** Reduces prepared triggers to one metric. */
function onlyMetric(plan: PreparedTriggers, metricName: string): Pick<PreparedTriggers, 'triggers'> {
  for (const trigger of plan.triggers) {
    const metrics = trigger.metrics.filter((metric) => metric.metricName === metricName);
    if (metrics.length > 0) return { triggers: [{ ...trigger, metrics }] };
  }
  return { triggers: [] };
}

interface LastPoll {
  /** `undefined` while a metric fails. */
  text: string | undefined;
  /** Time of the last poll with an active trigger, by the monotonic clock. */
  lastActiveAtMs: number | undefined;
}

/** Detects polls that change the result for an object, so that the many others cause no reconcile. */
export class PollChangeDetector {
  readonly #lastPolls = new Map<string, LastPoll>();

  /**
   * Records the result of a poll.
   *
   * @param countsValues whether a changed value matters even if the activity is the same, as for a formula
   * @param isActive whether a cooldown starts at this poll
   * @returns `false` for a changed result and for each failure, because failures are counted
   */
  isUnchanged(
    key: string,
    observed: readonly ObservedMetric[],
    options: { readonly countsValues: boolean; readonly isActive: boolean; readonly monotonicMs: number },
  ): boolean {
    const last = this.#lastPolls.get(key) ?? { text: undefined, lastActiveAtMs: undefined };
    this.#lastPolls.set(key, last);
    if (options.isActive) last.lastActiveAtMs = options.monotonicMs;
    const text = textOf(observed, options.countsValues);
    const isSame = text !== undefined && text === last.text;
    last.text = text;
    return isSame;
  }

  /** Time of the last poll with `isActive`, by the monotonic clock. */
  lastActiveAtMs(key: string): number | undefined {
    return this.#lastPolls.get(key)?.lastActiveAtMs;
  }

  delete(key: string): void {
    this.#lastPolls.delete(key);
  }
}

/** @returns `undefined` if a metric has no value */
function textOf(observed: readonly ObservedMetric[], countsValues: boolean): string | undefined {
  const parts: string[] = [];
  for (const { metric, state, isPushed } of observed) {
    if (state.kind !== 'value') return undefined;
    parts.push(
      `${metric.metricName} ${state.isActive}${isPushed ? ' pushed' : ''}${countsValues ? ` ${state.values.join()}` : ''}`,
    );
  }
  return parts.join('\n');
}
