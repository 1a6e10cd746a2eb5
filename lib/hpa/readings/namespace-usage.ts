import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { Clock } from '#lib/time/clock.ts';
import { raceAbort } from '#lib/time/race-abort.ts';
import { equalityOf } from '../pods/equality.ts';
import { type LabelledUsage, podMetricsList } from './pod-metrics-list.ts';

/** What {@link NamespaceUsage} works with. */
export interface NamespaceUsageOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
}

interface Listing {
  readonly askedAtMs: number;
  readonly usages: Promise<UsageList>;
}

/** Lists of more namespaces are not kept. */
const MOST_NAMESPACES = 10_000;

/**
 * What pods use, by the resource metrics API: listed once a namespace, for all that ask within a while.
 */
export class NamespaceUsage {
  readonly #options: NamespaceUsageOptions;
  readonly #listings = new Map<string, Listing>();

  constructor(options: NamespaceUsageOptions) {
    this.#options = options;
  }

  /**
   * @param maxAgeMs a list that was asked for longer ago is asked for again
   * @throws what the API client throws, for everybody who waited for the same list; nothing is kept of a failure
   */
  async of(
    namespace: string,
    { maxAgeMs, signal }: { readonly maxAgeMs: number; readonly signal: AbortSignal },
  ): Promise<UsageList> {
    const { clock } = this.#options;
    let listing = this.#listings.get(namespace);
    if (!listing || clock.monotonicMs() - listing.askedAtMs >= maxAgeMs) {
      const asked: Listing = { askedAtMs: clock.monotonicMs(), usages: this.#list(namespace) };
      asked.usages.catch(() => {
        if (this.#listings.get(namespace) === asked) this.#listings.delete(namespace);
      });
      this.#listings.delete(namespace); // to the end: the longest unasked go first
      this.#listings.set(namespace, asked);
      const [oldest] = this.#listings.keys();
      if (this.#listings.size > MOST_NAMESPACES && oldest !== undefined) this.#listings.delete(oldest);
      listing = asked;
    }
    return await raceAbort(listing.usages, signal);
  }

  /** Not bound to the signal of who asks first: others wait for the same list. */
  async #list(namespace: string): Promise<UsageList> {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${encodeURIComponent(namespace)}/pods`;
    return new UsageList(podMetricsList(await this.#options.client.getJson(path)));
  }
}

/** The samples of a namespace, found by labels. */
export class UsageList {
  readonly #all: readonly LabelledUsage[];
  /** By key and value of labels, for the keys that were asked for. */
  readonly #byKey = new Map<string, Map<string, LabelledUsage[]>>();

  constructor(all: readonly LabelledUsage[]) {
    this.#all = all;
  }

  /**
   * The samples that a selector selects.
   *
   * @param podNames names of the pods that it selects, which decide where a sample has no labels
   */
  select(selector: LabelSelector, podNames: ReadonlySet<string>): readonly LabelledUsage[] {
    const equality = equalityOf(selector);
    const candidates = equality
      ? [...this.#with(equality.key, equality.value), ...this.#withoutLabels]
      : this.#all;
    return candidates.filter(({ pod, labels }) => (labels ? selector.matches(labels) : podNames.has(pod)));
  }

  #with(key: string, value: string): readonly LabelledUsage[] {
    let values = this.#byKey.get(key);
    if (!values) {
      values = new Map();
      for (const usage of this.#all) {
        const own = usage.labels && Object.hasOwn(usage.labels, key) ? usage.labels[key] : undefined;
        if (own === undefined) continue;
        const those = values.get(own);
        if (those) those.push(usage);
        else values.set(own, [usage]);
      }
      this.#byKey.set(key, values);
    }
    return values.get(value) ?? [];
  }

  get #withoutLabels(): readonly LabelledUsage[] {
    this.#unlabelled ??= this.#all.filter(({ labels }) => !labels);
    return this.#unlabelled;
  }

  #unlabelled: readonly LabelledUsage[] | undefined;
}
