import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type {
  CustomMetricsProvider,
  DiscoveredMetric,
  ExternalMetricsProvider,
  ExternalValue,
  MetricValue,
  ObjectMetricQuery,
  ObjectValue,
} from './metrics-provider.ts';

/** A metric that belongs to a namespace, as somebody has it served. */
export interface StoredExternalMetric {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The same for those that are one value though several ask for it: an autoscaler adds all that it gets. */
  readonly identity: string;
  /**
   * Reads its values at the moment of a request, so that none is served that counts no more.
   *
   * @throws {StatusError} for the client
   */
  values(): readonly MetricValue[];
}

/** A metric of an object, as somebody has it served. */
export interface StoredObjectMetric {
  /** As it stands in paths: `pods`, `deployments.apps`. */
  readonly resource: string;
  readonly isNamespaced: boolean;
  readonly object: ObjectValue['object'];
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Reads its value at the moment of a request. */
  value(): MetricValue | undefined;
}

/** What one owner has served. */
export interface StoredMetrics {
  readonly external?: readonly StoredExternalMetric[];
  readonly objects?: readonly StoredObjectMetric[];
}

/** What collectors of all subsystems found, as the metrics APIs ask for it. */
export class MetricStore implements ExternalMetricsProvider {
  readonly #owners = new Map<string, StoredMetrics>();
  /** By their names in lower case. */
  readonly #external = new Map<string, Set<StoredExternalMetric>>();
  /** By `RESOURCE/NAME`. */
  readonly #objects = new Map<string, Set<StoredObjectMetric>>();
  #externalNames: readonly string[] | undefined;
  #objectNames: readonly DiscoveredMetric[] | undefined;

  /** Has these metrics of an owner served, and no others of its. */
  put(owner: string, metrics: StoredMetrics): void {
    this.remove(owner);
    const { external = [], objects = [] } = metrics;
    if (external.length + objects.length === 0) return;
    this.#owners.set(owner, metrics);
    for (const one of external) addTo(this.#external, one.name.toLowerCase(), one);
    for (const one of objects) addTo(this.#objects, `${one.resource}/${one.name}`, one);
    this.#forgetNames();
  }

  /** Has nothing of an owner served any more. */
  remove(owner: string): void {
    const metrics = this.#owners.get(owner);
    if (!metrics) return;
    this.#owners.delete(owner);
    for (const one of metrics.external ?? []) takeFrom(this.#external, one.name.toLowerCase(), one);
    for (const one of metrics.objects ?? []) takeFrom(this.#objects, `${one.resource}/${one.name}`, one);
    this.#forgetNames();
  }

  metrics(): readonly string[] {
    this.#externalNames ??= [
      ...new Set([...this.#external.values()].flatMap((served) => [...served].map(({ name }) => name))),
    ].sort();
    return this.#externalNames;
  }

  /** Values of a namespace alone: another namespace's belong to others. */
  values(
    namespace: string,
    { metric, selector }: { readonly metric: string; readonly selector: LabelSelector },
  ): readonly ExternalValue[] | undefined {
    const served = this.#external.get(metric.toLowerCase());
    if (!served) return undefined;
    const values = new Map<string, readonly ExternalValue[]>();
    for (const one of served) {
      if (one.namespace !== namespace || !selector.matches(one.labels)) continue;
      const { name, labels } = one;
      const read = one.values();
      if (read.length > 0)
        values.set(
          one.identity,
          read.map((value) => ({ ...value, metric: name, labels })),
        );
    }
    return [...values.values()].flat();
  }

  /** The values of objects. */
  get objects(): CustomMetricsProvider {
    return { metrics: () => this.#discovered(), values: (query) => this.#objectValues(query) };
  }

  #discovered(): readonly DiscoveredMetric[] {
    this.#objectNames ??= [...this.#objects]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, [first]]) =>
        first ? { resource: first.resource, metric: first.name, isNamespaced: first.isNamespaced } : [],
      );
    return this.#objectNames;
  }

  #objectValues(query: ObjectMetricQuery): readonly ObjectValue[] | undefined {
    const { namespace, name, metricSelector } = query;
    const served = this.#objects.get(`${query.resource}/${query.metric}`);
    if (!served) return undefined;
    const values = new Map<string, ObjectValue>();
    for (const one of served) {
      const { object } = one;
      const isWanted = object.namespace === namespace && (name === undefined || object.name === name);
      if (!isWanted || !metricSelector.matches(one.labels)) continue;
      const value = one.value();
      if (value && !values.has(object.name)) values.set(object.name, { ...value, object });
    }
    if (name !== undefined && values.size === 0) return undefined;
    return [...values.values()].sort((a, b) => (a.object.name < b.object.name ? -1 : 1));
  }

  #forgetNames(): void {
    this.#externalNames = undefined;
    this.#objectNames = undefined;
  }
}

function addTo<T>(groups: Map<string, Set<T>>, key: string, one: T): void {
  const group = groups.get(key);
  if (group) group.add(one);
  else groups.set(key, new Set([one]));
}

function takeFrom<T>(groups: Map<string, Set<T>>, key: string, one: T): void {
  const group = groups.get(key);
  group?.delete(one);
  if (group?.size === 0) groups.delete(key);
}
