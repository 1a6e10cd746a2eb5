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

/** An external metric of a namespace. */
export interface StoredExternalMetric {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * Equal for metrics of several owners that are the same value. It is served once, since an autoscaler sums values.
   */
  readonly identity: string;
  /**
   * Reads the values at the time of a request, so that no expired value is served.
   *
   * @throws {StatusError} that is returned to the client
   */
  values(): readonly MetricValue[];
}

/** A custom metric of objects. */
export interface StoredObjectMetric {
  /** As in paths: `pods`, `deployments.apps`. */
  readonly resource: string;
  readonly isNamespaced: boolean;
  /** Of the objects; empty for cluster-scoped ones. */
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Reads the values of the selected objects that have one, at the time of a request. */
  values(isSelected: ObjectFilter): readonly ObjectValue[];
  /** Returns why none of the selected objects has a value; `undefined` if some have, or if the cause is unknown. */
  failure?(isSelected: ObjectFilter): Error | undefined;
}

/** Whether a request selects an object. */
type ObjectFilter = (object: {
  readonly name: string;
  /** `undefined` if unknown; then no label selector matches. */
  readonly labels: Readonly<Record<string, string>> | undefined;
}) => boolean;

/** The metrics of one owner. */
export interface StoredMetrics {
  readonly external?: readonly StoredExternalMetric[];
  readonly objects?: readonly StoredObjectMetric[];
}

/** The metrics of all subsystems, for the custom and external metrics APIs. */
export class MetricStore implements ExternalMetricsProvider {
  readonly #owners = new Map<string, StoredMetrics>();
  /** By lower-case name. */
  readonly #external = new Map<string, ByNamespace<StoredExternalMetric>>();
  /** By `RESOURCE/NAME`. */
  readonly #objects = new Map<string, ByNamespace<StoredObjectMetric>>();
  #externalNames: readonly string[] | undefined;
  #objectNames: readonly DiscoveredMetric[] | undefined;

  /** Replaces the metrics of an owner. */
  put(owner: string, metrics: StoredMetrics): void {
    this.remove(owner);
    const { external = [], objects = [] } = metrics;
    if (external.length + objects.length === 0) return;
    this.#owners.set(owner, metrics);
    for (const one of external) addTo(this.#external, one.name.toLowerCase(), one);
    for (const one of objects) addTo(this.#objects, `${one.resource}/${one.name}`, one);
    this.#invalidateNames();
  }

  /** Removes the metrics of an owner. */
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

  /** Returns the values of one namespace only. */
  values(
    namespace: string,
    { metric, selector }: { readonly metric: string; readonly selector: LabelSelector },
  ): readonly ExternalValue[] | undefined {
    const served = this.#external.get(metric.toLowerCase());
    if (!served) return undefined;
    const candidates = served.get(namespace)?.candidates(selector);
    if (!candidates) return [];
    const [only] = candidates;
    if (only && candidates.size === 1) return readValues(only, selector); // the usual case
    const values = new Map<string, readonly ExternalValue[]>();
    for (const one of candidates) {
      const read = readValues(one, selector);
      if (read.length > 0) values.set(one.identity, read);
    }
    return [...values.values()].flat();
  }

  /** The custom metrics. */
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
    const isSelected: ObjectFilter = ({ name: of, labels }) =>
      name === undefined ? selects(labelSelector, labels) : of === name;
    const values = new Map<string, ObjectValue>();
    let failure: Error | undefined;
    for (const one of served.get(namespace)?.candidates(metricSelector) ?? []) {
      if (!metricSelector.matches(one.labels)) continue;
      failure ??= one.failure?.(isSelected);
      for (const value of one.values(isSelected)) {
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

/** Reads the values of a metric that a selector matches, each with all of its labels. */
function readValues(one: StoredExternalMetric, selector: LabelSelector): readonly ExternalValue[] {
  const values: ExternalValue[] = [];
  if (!mayMatch(selector, one.labels)) return values;
  for (const { value, takenAtMs, windowSeconds, sourceLabels } of one.values()) {
    const labels = sourceLabels ? { ...sourceLabels, ...one.labels } : one.labels;
    if (selector.matches(labels)) values.push({ value, takenAtMs, windowSeconds, metric: one.name, labels });
  }
  return values;
}

/** Whether a selector can match labels to which the source may add others. */
function mayMatch(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  return selector.requirements.every(
    (requirement) => !Object.hasOwn(labels, requirement.key) || satisfies(labels, requirement),
  );
}

function selects(selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  return selector.requirements.length === 0 || (labels !== undefined && selector.matches(labels));
}

/** The metrics of one name. */
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

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

/** A set with an index of the labels that all members have: autoscalers request one of a thousand metrics. */
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
   * Returns all members that a selector may match once the source has added labels, and possibly others, in insertion
   * order.
   */
  candidates(selector: LabelSelector): ReadonlySet<T> {
    let smallest: ReadonlySet<T> = this.#members;
    for (const { key, operator, values } of selector.requirements) {
      const [value, ...others] = values;
      const isOneValue = (operator === '=' || operator === '==' || operator === 'in') && others.length === 0;
      const byValue = this.#byKey.get(key);
      // The source may add the label to members without it.
      if (!isOneValue || value === undefined || byValue?.count !== this.#members.size) continue;
      const having = byValue.get(value);
      if (having.size < smallest.size) smallest = having;
    }
    return smallest;
  }
}

/** Members by the value of one label. */
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
