import { isDnsLabel } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { exposition, type SeriesSample } from '#lib/telemetry/exposition.ts';
import type { SlicedSeries } from '#lib/telemetry/sliced-registry.ts';

interface Labels {
  readonly namespace: string;
  readonly action: string;
}

/**
 * Any client may send reviews: further namespaces, and invalid names, are counted together.
 */
const MAX_NAMESPACES = 1000;
const OTHERS = 'others';

type Counts = Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>;

/** Counts reviews, with the names and labels of KEDA. */
export class WebhookSeries {
  readonly #validations: Counts = new Map();
  readonly #errors: Counts = new Map();
  readonly #namespaces = new Set<string>();

  validated(labels: Labels): void {
    count(this.#validations, this.#bounded(labels));
  }

  refused(labels: Labels & { readonly reason: string }): void {
    count(this.#errors, this.#bounded(labels));
  }

  get series(): SlicedSeries {
    const samples = (counts: Counts) => (): Iterable<SeriesSample> => counts.values();
    const families = [
      {
        ...{ name: 'keda_webhook_scaled_object_validations_total', type: 'counter' as const },
        ...{ help: 'ScaledObjects that the webhook validated', samples: samples(this.#validations) },
      },
      {
        ...{ name: 'keda_webhook_scaled_object_validation_errors_total', type: 'counter' as const },
        ...{ help: 'ScaledObjects that the webhook rejected', samples: samples(this.#errors) },
      },
    ];
    return exposition(families, () => [undefined]);
  }

  #bounded<T extends Labels>(labels: T): T {
    const { namespace } = labels;
    if (this.#namespaces.size < MAX_NAMESPACES && isDnsLabel(namespace)) this.#namespaces.add(namespace);
    return this.#namespaces.has(namespace) ? labels : { ...labels, namespace: OTHERS };
  }
}

function count(counts: Counts, labels: object): void {
  const key = JSON.stringify(labels);
  const counter = counts.get(key);
  if (counter) counter.value++;
  else counts.set(key, { labels: { ...labels }, value: 1 });
}
