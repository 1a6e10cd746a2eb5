import { type LabelSelector, satisfies } from '#lib/kubernetes/selectors/label-selector.ts';
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

/** A metric of objects, as somebody has it served. */
export interface StoredObjectMetric {
  /** As it stands in paths: `pods`, `deployments.apps`. */
  readonly resource: string;
  readonly isNamespaced: boolean;
  /** Of the objects; empty for what has no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Reads the values of those of its objects that are wanted and have one, at the moment of a request. */
  values(isWanted: ObjectFilter): readonly ObjectValue[];
  /** Why none of them has a value, for the client; `undefined` where they have some, or it is not known. */
  failure?(isWanted: ObjectFilter): Error | undefined;
}

/** Whether a request is about an object. */
type ObjectFilter = (object: {
  readonly name: string;
  /** `undefined` where nobody knows them, so that no selector selects it. */
  readonly labels: Readonly<Record<string, string>> | undefined;
}) => boolean;

/** What one owner has served. */
export interface StoredMetrics {
  readonly external?: readonly StoredExternalMetric[];
  readonly objects?: readonly StoredObjectMetric[];
}

/** What collectors of all subsystems found, as the metrics APIs ask for it. */
export class MetricStore implements ExternalMetricsProvider {
  readonly #owners = new Map<string, StoredMetrics>();
  /** By their names in lower case. */
  readonly #external = new Map<string, ByNamespace<StoredExternalMetric>>();
  /** By `RESOURCE/NAME`. */
  readonly #objects = new Map<string, ByNamespace<StoredObjectMetric>>();
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
    this.#invalidateNames();
  }

  /** Has nothing of an owner served any more. */
  remove(owner: string): void {
    const metrics = this.#owners.get(owner);
    if (!metrics) return;
    this.#owners.delete(owner);
    for (const one of metrics.external ?? []) removeFrom(this.#external, one.name.toLowerCase(), one);
    for (const one of metrics.objects ?? []) removeFrom(this.#objects, `${one.resource}/${one.name}`, one);
    this.#invalidateNames();
  }

  metrics(): readonly string[] {
    this.#externalNames ??= [
      ...new Set([...this.#external.values()].flatMap((served) => listAll(served).map(({ name }) => name))),
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
    const candidates = served.get(namespace)?.candidates(selector);
    if (!candidates) return [];
    const [only] = candidates;
    if (only && candidates.size === 1) return readValues(only, selector); // autoscalers ask for one of their own
    const values = new Map<string, readonly ExternalValue[]>();
    for (const one of candidates) {
      const read = readValues(one, selector);
      if (read.length > 0) values.set(one.identity, read);
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
      .flatMap(([, served]) => {
        const [first] = listAll(served);
        return first
          ? { resource: first.resource, metric: first.name, isNamespaced: first.isNamespaced }
          : [];
      });
    return this.#objectNames;
  }

  #objectValues(query: ObjectMetricQuery): readonly ObjectValue[] | undefined {
    const { namespace, name, labelSelector, metricSelector } = query;
    const served = this.#objects.get(`${query.resource}/${query.metric}`);
    if (!served) return undefined;
    const isWanted: ObjectFilter = ({ name: of, labels }) =>
      name === undefined ? selects(labelSelector, labels) : of === name;
    const values = new Map<string, ObjectValue>();
    let failure: Error | undefined;
    for (const one of served.get(namespace)?.candidates(metricSelector) ?? []) {
      if (!metricSelector.matches(one.labels)) continue;
      failure ??= one.failure?.(isWanted);
      for (const value of one.values(isWanted)) {
        const { name: of } = value.object;
        if (!values.has(of)) values.set(of, value);
      }
    }
    if (values.size === 0 && failure) throw failure;
    if (name !== undefined && values.size === 0) return undefined;
    return [...values.values()].sort((a, b) => (a.object.name < b.object.name ? -1 : 1));
  }

  #invalidateNames(): void {
    this.#externalNames = undefined;
    this.#objectNames = undefined;
  }
}

/** The values of a metric that a selector matches, with all labels of each. */
function readValues(one: StoredExternalMetric, selector: LabelSelector): readonly ExternalValue[] {
  const values: ExternalValue[] = [];
  if (!mayMatch(selector, one.labels)) return values;
  for (const { value, takenAtMs, windowSeconds, sourceLabels } of one.values()) {
    const labels = sourceLabels ? { ...sourceLabels, ...one.labels } : one.labels;
    if (selector.matches(labels)) values.push({ value, takenAtMs, windowSeconds, metric: one.name, labels });
  }
  return values;
}

/** Whether a selector does not speak against labels, to which others may come. */
function mayMatch(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  return selector.requirements.every(
    (requirement) => !Object.hasOwn(labels, requirement.key) || satisfies(labels, requirement),
  );
}

function selects(selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  return selector.requirements.length === 0 || (labels !== undefined && selector.matches(labels));
}

/** What is served under one name, which many namespaces may have. */
type ByNamespace<T extends Served> = Map<string, LabelledSet<T>>;
type Served = StoredExternalMetric | StoredObjectMetric;

function listAll<T extends Served>(served: ByNamespace<T>): readonly T[] {
  return [...served.values()].flatMap((ofOne) => [...ofOne]);
}

function addTo<T extends Served>(names: Map<string, ByNamespace<T>>, name: string, one: T): void {
  const served: ByNamespace<T> = names.get(name) ?? new Map();
  names.set(name, served);
  const ofOne = served.get(one.namespace) ?? new LabelledSet<T>();
  served.set(one.namespace, ofOne);
  ofOne.add(one);
}

function removeFrom<T extends Served>(names: Map<string, ByNamespace<T>>, name: string, one: T): void {
  const served = names.get(name);
  const ofOne = served?.get(one.namespace);
  ofOne?.delete(one);
  if (ofOne?.size === 0) served?.delete(one.namespace);
  if (served?.size === 0) names.delete(name);
}

/** What has labels of its own. */
interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

/** A set whose members are found by a label that all of them have: autoscalers ask for one of a thousand. */
export class LabelledSet<T extends Labelled> implements Iterable<T> {
  readonly #members = new Set<T>();
  readonly #byKey = new Map<string, ByValue<T>>();

  get size(): number {
    return this.#members.size;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#members.values();
  }

  add(member: T): void {
    if (this.#members.has(member)) return;
    this.#members.add(member);
    for (const [key, value] of Object.entries(member.labels)) {
      const byValue = this.#byKey.get(key) ?? new ByValue<T>();
      this.#byKey.set(key, byValue);
      byValue.add(value, member);
    }
  }

  delete(member: T): void {
    if (!this.#members.delete(member)) return;
    for (const [key, value] of Object.entries(member.labels)) {
      const byValue = this.#byKey.get(key);
      byValue?.delete(value, member);
      if (byValue?.count === 0) this.#byKey.delete(key);
    }
  }

  /**
   * Every member that a selector may match once it has further labels, in the order in which they were added, and
   * possibly others.
   */
  candidates(selector: LabelSelector): ReadonlySet<T> {
    let fewest: ReadonlySet<T> = this.#members;
    for (const { key, operator, values } of selector.requirements) {
      const [value, ...others] = values;
      const isOneValue = (operator === '=' || operator === '==' || operator === 'in') && others.length === 0;
      const byValue = this.#byKey.get(key);
      // One without this label may get it from its source.
      if (!isOneValue || value === undefined || byValue?.count !== this.#members.size) continue;
      const having = byValue.get(value);
      if (having.size < fewest.size) fewest = having;
    }
    return fewest;
  }
}

/** Members by what they have as one label. */
class ByValue<T> {
  readonly #members = new Map<string, Set<T>>();
  count = 0;

  get(value: string): ReadonlySet<T> {
    return this.#members.get(value) ?? NONE;
  }

  add(value: string, member: T): void {
    const members = this.#members.get(value) ?? new Set();
    this.#members.set(value, members.add(member));
    this.count++;
  }

  delete(value: string, member: T): void {
    const members = this.#members.get(value);
    members?.delete(member);
    if (members?.size === 0) this.#members.delete(value);
    this.count--;
  }
}

const NONE: ReadonlySet<never> = new Set();
