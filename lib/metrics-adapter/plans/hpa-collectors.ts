import type { Collection, Collector } from '#lib/collection/collection.ts';
import type { FairShare } from '#lib/concurrency/event-loop.ts';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import type { Controller, Watched } from '#lib/control/controller.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { KindReference } from '#lib/kubernetes/client/rest-mapper.ts';
import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type DescribedObject, nameOfMetric, type ScaledHpa } from '../collected-metrics.ts';
import type { MetricCollector } from '../collectors/metric-collector.ts';
import type { LabelledObject, ObjectLabels } from '../targets/object-labels.ts';
import type { CollectedHpa, CollectedMetric, PlannedCollector, PlanProblem } from './collected-hpa.ts';
import { claimMetrics, contestMetrics, describedIn, MetricClaims } from './metric-owners.ts';
import { planCollectors, UnknownCollector } from './plan-collectors.ts';

/** What keeping collectors in step needs. */
interface HpaCollectorsOptions {
  readonly hpas: Watched & { find(key: string): ScaledHpa | undefined };
  readonly collection: Collection;
  readonly collectors: readonly MetricCollector[];
  readonly objectLabels: Pick<ObjectLabels, 'refresh' | 'keepOnly'>;
  readonly mapper: { find(kind: KindReference, signal: AbortSignal): Promise<ApiResource | undefined> };
  readonly defaultIntervalMs: number;
  /** No value counts for longer. */
  readonly metricsTtlMs: number;
  /** Whether metrics whose collector is not known are passed over in silence. */
  readonly passesOverUnknown: boolean;
  /** Shares of the event loop: an HPA of hundreds of metrics takes many milliseconds. */
  readonly share: FairShare;
  /** Told when something of an HPA cannot be collected, once when that begins. */
  readonly onProblem: (hpa: ScaledHpa, problem: PlanProblem) => void;
  /** Told by its key whenever what is known of an HPA has changed. */
  readonly onChange: (key: string) => void;
}

/** A value counts for so many intervals. */
const VALID_INTERVALS = 3;
/** A kind that nothing serves may be defined later, and labels change. */
const LOOK_AGAIN_MS = 60_000;
const POD: ApiResource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/** Keeps collectors in step with the HPAs that ask for their metrics: of one that changes, those that changed restart. */
export class HpaCollectors {
  readonly #options: HpaCollectorsOptions;
  readonly #known = new Map<string, CollectedHpa>();
  readonly #claims = new MetricClaims();
  readonly #rivalListeners = new Set<(key: string) => void>();

  constructor(options: HpaCollectorsOptions) {
    this.#options = options;
  }

  /** By the keys of HPAs, which are the owners of their collectors, too. */
  get known(): ReadonlyMap<string, CollectedHpa> {
    return this.#known;
  }

  /** Follows HPAs; every replica runs it. */
  controller(): Controller {
    return {
      name: 'metrics-adapter',
      watches: [this.#options.hpas, this.#collectorChanges(), this.#rivalChanges()],
      reconcile: async (key, signal) => {
        await runForTenant(nameOfKey(key).namespace, () => this.#options.share.next(signal));
        const hpa = this.#options.hpas.find(key);
        if (hpa) return await this.#keep(key, hpa, signal);
        this.#options.collection.replace(key, new Map());
        this.#tellRivals(this.#claims.put(key, []));
        if (this.#known.delete(key)) this.#options.onChange(key);
        this.#options.objectLabels.keepOnly(this.#describedObjects());
        return {};
      },
    };
  }

  /** Has all HPAs looked at again when what a collector can be asked for has changed. */
  #collectorChanges(): Watched {
    return {
      onChange: (listener) => {
        let isHeard = true;
        for (const collector of this.#options.collectors)
          collector.onChange?.(() => {
            if (isHeard) for (const key of this.#known.keys()) listener({ key });
          });
        return () => {
          isHeard = false;
        };
      },
      synced: async () => {},
    };
  }

  /** Has HPAs looked at again whose metric another had its way with, or has now. */
  #rivalChanges(): Watched {
    return {
      onChange: (listener) => {
        const tell = (key: string) => listener({ key });
        this.#rivalListeners.add(tell);
        return () => this.#rivalListeners.delete(tell);
      },
      synced: async () => {},
    };
  }

  #tellRivals(keys: ReadonlySet<string>): void {
    for (const key of keys) for (const tell of this.#rivalListeners) tell(key);
  }

  async #keep(key: string, hpa: ScaledHpa, signal: AbortSignal) {
    const { collectors, collection, passesOverUnknown, onProblem, onChange } = this.#options;
    const { planned, problems: found } = planCollectors(hpa, collectors);
    const problems = passesOverUnknown
      ? found.filter(({ error }) => !(error instanceof UnknownCollector))
      : found;
    const [resolved, missing]: [CollectedMetric[], PlanProblem[]] = [[], []];
    for (const one of planned) {
      const found = await this.#resolve(one, signal);
      if ('error' in found) missing.push(found);
      else resolved.push(found);
    }
    this.#tellRivals(claimMetrics(this.#claims, hpa, resolved));
    const { won: metrics, lost } = contestMetrics(this.#claims, hpa, resolved);
    missing.push(...lost);
    await this.#readLabels(hpa, { metrics, signal });
    collection.replace(key, new Map(metrics.map((one) => [one.key, this.#collectorOf(one, hpa)])));
    const last = this.#known.get(key);
    const before = new Set(last?.problems.map(textOf));
    const all = [...problems, ...missing];
    if (metrics.length + all.length > 0) this.#known.set(key, { hpa, metrics, problems: all });
    else this.#known.delete(key);
    // All HPAs are looked through: not whenever one changes.
    if (last && hasLeft(last, { hpa, metrics }))
      this.#options.objectLabels.keepOnly(this.#describedObjects());
    onChange(key);
    for (const problem of all) if (!problem.isQuiet && !before.has(textOf(problem))) onProblem(hpa, problem);
    const hasObjects = metrics.some(({ metric }) => metric.type === 'Object');
    return missing.length > 0 || hasObjects ? { requeueAfterMs: LOOK_AGAIN_MS } : {};
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
    for (const { hpa, metrics } of this.#known.values())
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
    const error = new Error(`The API server serves no ${kind} of ${apiVersion}`);
    return { metric: nameOfMetric(one.metric), error };
  }

  #collectorOf({ query, intervalMs }: CollectedMetric, { namespace }: ScaledHpa): Collector {
    const { defaultIntervalMs, metricsTtlMs } = this.#options;
    const everyMs = intervalMs ?? defaultIntervalMs;
    const validForMs = Math.min(VALID_INTERVALS * everyMs, metricsTtlMs);
    return { query, intervalMs: everyMs, validForMs, tenant: namespace };
  }
}

/** Whether an HPA has no metric any more of an object that it had one of. */
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
