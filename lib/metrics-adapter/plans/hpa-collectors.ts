import type { Collection, Collector } from '#lib/collection/collection.ts';
import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import type { Controller, Watched } from '#lib/control/controller.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { KindReference } from '#lib/kubernetes/client/rest-mapper.ts';
import {
  MAX_NAMESPACE_METRICS,
  METRICS_BUDGET,
  NamespaceBudget,
} from '#lib/kubernetes/informer/namespace-budget.ts';
import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type DescribedObject, nameOfMetric, type ScaledHpa } from '../collected-metrics.ts';
import type { MetricCollector } from '../collectors/metric-collector.ts';
import type { LabelledObject, ObjectLabels } from '../targets/object-labels.ts';
import type { CollectedHpa, CollectedMetric, PlannedCollector, PlanProblem } from './collected-hpa.ts';
import { claimMetrics, contestMetrics, describedIn, MetricClaims } from './metric-owners.ts';
import { planCollectors, UnknownCollector } from './plan-collectors.ts';

interface HpaCollectorsOptions {
  readonly hpas: Watched & { find(key: string): ScaledHpa | undefined };
  readonly collection: Collection;
  readonly collectors: readonly MetricCollector[];
  readonly objectLabels: Pick<ObjectLabels, 'refresh' | 'retainOnly'>;
  readonly mapper: { find(kind: KindReference, signal: AbortSignal): Promise<ApiResource | undefined> };
  readonly defaultIntervalMs: number;
  /** Maximum validity of a value. */
  readonly metricsTtlMs: number;
  /** Whether metrics with an unknown collector are ignored silently. */
  readonly ignoresUnknown: boolean;
  /** Time slices of the event loop: an HPA of hundreds of metrics takes many milliseconds. */
  readonly share: EventLoopShare;
  /** Called once when a metric of an HPA begins to fail to be collected. */
  readonly onProblem: (hpa: ScaledHpa, problem: PlanProblem) => void;
  /** Called with the key whenever the collected metrics of an HPA have changed. */
  readonly onChange: (key: string) => void;
}

/** A value is valid for so many intervals. */
const VALID_INTERVALS = 3;
const TOO_MANY = `The HPAs of the namespace have more than ${MAX_NAMESPACE_METRICS} metrics to collect, so those of this HPA are not collected`;
/** A missing kind may be defined later, labels change, and a namespace may have fewer metrics. */
const RECHECK_INTERVAL_MS = 60_000;
const POD: ApiResource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/**
 * Reconciles collectors with the metrics of HPAs: when an HPA changes, the collectors of its changed metrics restart.
 */
export class HpaCollectors {
  readonly #options: HpaCollectorsOptions;
  readonly #collected = new Map<string, CollectedHpa>();
  readonly #claims = new MetricClaims();
  readonly #budget = new NamespaceBudget(METRICS_BUDGET);
  readonly #conflictListeners = new Set<(key: string) => void>();

  constructor(options: HpaCollectorsOptions) {
    this.#options = options;
  }

  /** By the keys of HPAs, which also own their collectors. */
  get collected(): ReadonlyMap<string, CollectedHpa> {
    return this.#collected;
  }

  /** Watches HPAs; every replica runs it. */
  controller(): Controller {
    return {
      name: 'metrics-adapter',
      watches: [this.#options.hpas, this.#collectorChanges(), this.#conflictChanges()],
      reconcile: async (key, signal) => {
        await runForTenant(nameOfKey(key).namespace, () => this.#options.share.next(signal));
        const hpa = this.#options.hpas.find(key);
        if (hpa) return await this.#reconcile(key, hpa, signal);
        this.#options.collection.replace(key, new Map());
        this.#budget.delete(key);
        this.#notifyConflicting(this.#claims.put(key, []));
        if (this.#collected.delete(key)) this.#options.onChange(key);
        this.#options.objectLabels.retainOnly(this.#describedObjects());
        return {};
      },
    };
  }

  /** Reconciles all HPAs when the configuration of a collector has changed. */
  #collectorChanges(): Watched {
    return {
      onChange: (listener) => {
        let isSubscribed = true;
        for (const collector of this.#options.collectors)
          collector.onChange?.(() => {
            if (isSubscribed) for (const key of this.#collected.keys()) listener({ key });
          });
        return () => {
          isSubscribed = false;
        };
      },
      synced: async () => {},
    };
  }

  /** Reconciles HPAs that win or lose a conflicting metric. */
  #conflictChanges(): Watched {
    return {
      onChange: (listener) => {
        const notify = (key: string) => listener({ key });
        this.#conflictListeners.add(notify);
        return () => this.#conflictListeners.delete(notify);
      },
      synced: async () => {},
    };
  }

  #notifyConflicting(keys: ReadonlySet<string>): void {
    for (const key of keys) for (const notify of this.#conflictListeners) notify(key);
  }

  async #reconcile(key: string, hpa: ScaledHpa, signal: AbortSignal) {
    const { collectors, collection, ignoresUnknown, onProblem, onChange } = this.#options;
    const { planned, problems: found } = planCollectors(hpa, collectors);
    const problems = ignoresUnknown
      ? found.filter(({ error }) => !(error instanceof UnknownCollector))
      : found;
    const [resolved, missing]: [CollectedMetric[], PlanProblem[]] = [[], []];
    const isWithin = this.#budget.fit(key, planned.length) === planned.length;
    if (!isWithin) missing.push({ metric: '', error: new Error(TOO_MANY) });
    for (const one of isWithin ? planned : []) {
      const found = await this.#resolve(one, signal);
      if ('error' in found) missing.push(found);
      else resolved.push(found);
    }
    this.#notifyConflicting(claimMetrics(this.#claims, hpa, resolved));
    const { won: metrics, lost } = contestMetrics(this.#claims, hpa, resolved);
    missing.push(...lost);
    await this.#readLabels(hpa, { metrics, signal });
    collection.replace(key, new Map(metrics.map((one) => [one.key, this.#collectorOf(one, hpa)])));
    const last = this.#collected.get(key);
    const before = new Set(last?.problems.map(textOf));
    const all = [...problems, ...missing];
    if (metrics.length + all.length > 0) this.#collected.set(key, { hpa, metrics, problems: all });
    else this.#collected.delete(key);
    // Evaluates all HPAs, so not on every change of one.
    if (last && hasLeft(last, { hpa, metrics }))
      this.#options.objectLabels.retainOnly(this.#describedObjects());
    onChange(key);
    for (const problem of all) if (!problem.isQuiet && !before.has(textOf(problem))) onProblem(hpa, problem);
    const hasObjects = metrics.some(({ metric }) => metric.type === 'Object');
    return missing.length > 0 || hasObjects ? { requeueAfterMs: RECHECK_INTERVAL_MS } : {};
  }

  async #readLabels(
    { namespace }: ScaledHpa,
    { metrics, signal }: { readonly metrics: readonly CollectedMetric[]; readonly signal: AbortSignal },
  ): Promise<void> {
    for (const one of metrics) {
      const object = describedIn(one, namespace);
      if (object && one.resource)
        await this.#options.objectLabels.refresh(object, { resource: one.resource, signal });
    }
  }

  *#describedObjects(): Generator<LabelledObject> {
    for (const { hpa, metrics } of this.#collected.values())
      for (const one of metrics) {
        const object = describedIn(one, hpa.namespace);
        if (object) yield object;
      }
  }

  async #resolve(one: PlannedCollector, signal: AbortSignal): Promise<CollectedMetric | PlanProblem> {
    const { type, describedObject } = one.metric;
    if (type === 'Pods') return { ...one, resource: POD };
    if (!describedObject) return one;
    const resource = await this.#options.mapper.find(referenceOf(describedObject), signal);
    if (resource) return { ...one, resource };
    const { kind, apiVersion } = referenceOf(describedObject);
    const error = new Error(`The API server does not serve ${kind} of ${apiVersion}`);
    return { metric: nameOfMetric(one.metric), error };
  }

  #collectorOf({ query, intervalMs }: CollectedMetric, { namespace }: ScaledHpa): Collector {
    const { defaultIntervalMs, metricsTtlMs } = this.#options;
    const everyMs = intervalMs ?? defaultIntervalMs;
    const validForMs = Math.min(VALID_INTERVALS * everyMs, metricsTtlMs);
    return { query, intervalMs: everyMs, validForMs, tenant: namespace };
  }
}

/** Whether an HPA no longer has a metric of an object that it had. */
function hasLeft(
  last: Pick<CollectedHpa, 'hpa' | 'metrics'>,
  now: Pick<CollectedHpa, 'hpa' | 'metrics'>,
): boolean {
  const objectsOf = ({ hpa, metrics }: typeof last) =>
    metrics.flatMap((one) => {
      const object = describedIn(one, hpa.namespace);
      return object ? JSON.stringify(object) : [];
    });
  return !new Set(objectsOf(last)).isSubsetOf(new Set(objectsOf(now)));
}

function referenceOf({ apiVersion, kind }: DescribedObject): KindReference {
  return { apiVersion: apiVersion || 'v1', kind };
}

function textOf({ metric, error }: PlanProblem): string {
  return `${metric}: ${error.message}`;
}
