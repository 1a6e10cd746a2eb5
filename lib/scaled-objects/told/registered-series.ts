import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { exposition, type SeriesFamily, type SeriesSample } from '#lib/telemetry/exposition.ts';
import type { SlicedSeries } from '#lib/telemetry/sliced-registry.ts';
import type { TriggerSpec } from '../api/scaled-object.ts';

/** What is counted. */
export interface RegisteredOptions {
  /** By the word that the label `type` has for their kind. */
  readonly kinds: Readonly<Record<string, { values(): Iterable<RegisteredObject> }>>;
}

type RegisteredObject = KubernetesObject & {
  readonly spec?: object | undefined;
};

/** What objects without a namespace are counted under. */
const NO_NAMESPACE = 'default';

/** How many objects and triggers there are, under the names that dashboards know. */
export function registeredSeries({ kinds }: RegisteredOptions): SlicedSeries {
  const families: readonly SeriesFamily<Counts>[] = [
    {
      ...{ name: 'keda_trigger_registered_total', help: 'Triggers that there are, by their types' },
      ...{ type: 'gauge', samples: (counts: Counts) => samplesOf(counts.triggers, ['type']) },
    },
    {
      ...{ name: 'keda_resource_registered_total', help: 'Objects that there are, by kinds and namespaces' },
      ...{ type: 'gauge', samples: (counts: Counts) => samplesOf(counts.objects, ['type', 'namespace']) },
    },
  ];
  return exposition(families, () => [countAll(kinds)]);
}

type Counter = ReadonlyMap<string, number>;
interface Counts {
  readonly triggers: Counter;
  readonly objects: Counter;
}

function countAll(kinds: RegisteredOptions['kinds']): Counts {
  const [triggers, objects] = [new Map<string, number>(), new Map<string, number>()];
  const count = (counter: Map<string, number>, ...words: readonly string[]) => {
    const key = JSON.stringify(words); // a type is whatever its author writes
    counter.set(key, (counter.get(key) ?? 0) + 1);
  };
  for (const [kind, informer] of Object.entries(kinds)) {
    for (const { metadata, spec } of informer.values()) {
      count(objects, kind, metadata.namespace ?? NO_NAMESPACE);
      for (const { type } of triggersOf(spec)) count(triggers, type);
    }
  }
  return { triggers, objects };
}

function triggersOf(spec: object | undefined): readonly TriggerSpec[] {
  return spec && 'triggers' in spec ? (spec.triggers as readonly TriggerSpec[]) : [];
}

function* samplesOf(counter: Counter, names: readonly string[]): Iterable<SeriesSample> {
  for (const [key, value] of counter) {
    const words: readonly string[] = JSON.parse(key);
    yield { labels: Object.fromEntries(names.map((name, index) => [name, words[index] ?? ''])), value };
  }
}
