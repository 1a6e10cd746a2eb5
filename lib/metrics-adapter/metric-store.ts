import type { Collection } from '#lib/collection/collection.ts';
import type { Reading } from '#lib/collection/poll.ts';
import { Quantity } from '#lib/kubernetes/exact-quantity.ts';
import type {
  CustomMetricsProvider,
  DiscoveredMetric,
  ExternalMetricsProvider,
  ExternalValue,
  MetricValue,
  ObjectMetricQuery,
  ObjectValue,
} from './api/metrics-provider.ts';
import type { CollectedHpa, CollectedMetric } from './collectors/hpa-collectors.ts';

interface Served {
  readonly owner: string;
  readonly collected: CollectedHpa;
  readonly metric: CollectedMetric;
}

/** Everything below a thousandth is cut off, as the metrics APIs' clients count. */
const NANOS_A_THOUSANDTH = 1_000_000n;
/** As many digits as a double holds for sure: 4.35 times 1000 is 4350, not 4349.999…. */
const SURE_DIGITS = 15;

/**
 * What collectors found, as the metrics APIs ask for it. Values are read from the collection at the moment of a
 * request, so that none is served that counts no more.
 */
export class MetricStore implements ExternalMetricsProvider {
  readonly #collection: Pick<Collection, 'reading'>;
  readonly #known: ReadonlyMap<string, CollectedHpa>;
  #external = new Map<string, readonly Served[]>();
  #objects = new Map<string, readonly Served[]>();
  #externalNames: readonly string[] = [];
  #objectNames: readonly DiscoveredMetric[] = [];

  /** @param known by the keys of HPAs, which own their collectors */
  constructor(collection: Pick<Collection, 'reading'>, known: ReadonlyMap<string, CollectedHpa>) {
    this.#collection = collection;
    this.#known = known;
  }

  /** Takes notice that what is collected has changed. */
  refresh(): void {
    const all = [...this.#known].flatMap(([owner, collected]) =>
      collected.metrics.map((metric) => ({ owner, collected, metric })),
    );
    const external = all.filter(({ metric }) => metric.metric.type === 'External');
    const objects = all.filter(({ metric }) => metric.resource !== undefined);
    this.#external = grouped(external, ({ metric }) => metric.metric.name.toLowerCase());
    this.#objects = grouped(objects, ({ metric }) => `${resourceName(metric)}/${metric.metric.name}`);
    this.#externalNames = [...new Set(external.map(({ metric }) => metric.metric.name))].sort();
    this.#objectNames = [...this.#objects]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, [first]]) =>
        first
          ? {
              resource: resourceName(first.metric),
              metric: first.metric.metric.name,
              isNamespaced: first.metric.resource?.namespaced ?? true,
            }
          : [],
      );
  }

  metrics(): readonly string[] {
    return this.#externalNames;
  }

  /** Values of the HPAs of a namespace alone: another namespace's belong to others. */
  values(
    namespace: string,
    { metric, selector }: Parameters<ExternalMetricsProvider['values']>[1],
  ): readonly ExternalValue[] | undefined {
    const served = this.#external.get(metric.toLowerCase());
    if (!served) return undefined;
    const values = new Map<string, ExternalValue>();
    for (const one of served) {
      const { matchLabels, name } = one.metric.metric;
      if (one.collected.hpa.namespace !== namespace || !selector.matches(matchLabels)) continue;
      const value = this.#valueOf(one);
      // Two HPAs that ask for the same are one value: an autoscaler adds all that it gets.
      if (value)
        values.set(one.metric.key + one.metric.query.key, { ...value, metric: name, labels: matchLabels });
    }
    return [...values.values()];
  }

  /** The values of objects. */
  get objects(): CustomMetricsProvider {
    return { metrics: () => this.#objectNames, values: (query) => this.#objectValues(query) };
  }

  #objectValues(query: ObjectMetricQuery): readonly ObjectValue[] | undefined {
    const { namespace, name, metricSelector } = query;
    const served = this.#objects.get(`${query.resource}/${query.metric}`);
    if (!served) return undefined;
    const values = new Map<string, ObjectValue>();
    for (const one of served) {
      const object = objectOf(one);
      const isWanted = object.namespace === namespace && (name === undefined || object.name === name);
      if (!isWanted || !metricSelector.matches(one.metric.metric.matchLabels)) continue;
      const value = this.#valueOf(one);
      if (value && !values.has(object.name)) values.set(object.name, { ...value, object });
    }
    if (name !== undefined && values.size === 0) return undefined;
    return [...values.values()].sort((a, b) => (a.object.name < b.object.name ? -1 : 1));
  }

  #valueOf({ owner, collected, metric }: Served): MetricValue | undefined {
    const reading = this.#collection.reading(owner, metric.key);
    const [sample] = reading?.samples ?? [];
    if (!reading || !sample) return undefined;
    const replicas = metric.perReplica ? collected.hpa.currentReplicas : 1;
    if (!replicas) return undefined; // divided among none, it is nobody's
    return {
      value: formatValue(sample.value / replicas),
      takenAtMs: timeOf(reading),
      windowSeconds: sample.windowSeconds,
    };
  }
}

/** Writes a finite number as a quantity of whole thousandths. */
export function formatValue(value: number): string {
  const thousandths = Math.trunc(Number((value * 1000).toPrecision(SURE_DIGITS)));
  return Quantity.ofNanos(BigInt(thousandths) * NANOS_A_THOUSANDTH).toString();
}

function timeOf({ samples: [sample], receivedAtMs }: Reading): number {
  return sample?.takenAtMs ?? receivedAtMs;
}

function objectOf({ collected, metric: { metric, resource } }: Served): ObjectValue['object'] {
  const { group = '', version = '', kind = '', namespaced = true } = resource ?? {};
  const namespace = namespaced ? collected.hpa.namespace : '';
  return { group, version, kind, namespace, name: metric.describedObject?.name ?? '' };
}

function resourceName({ resource }: CollectedMetric): string {
  const { plural = '', group = '' } = resource ?? {};
  return group === '' ? plural : `${plural}.${group}`;
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups;
}
