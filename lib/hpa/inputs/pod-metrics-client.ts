import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { equalityOf, type LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { Clock } from '#lib/time/clock.ts';
import { parseDurationMs } from '#lib/time/duration.ts';
import type { PodUsage } from '../decision/decision-input.ts';
import { LONGEST_LIST_BYTES, listItems, READ_WITHIN_MS, SharedReads } from './shared-reads.ts';

const BOUNDS = { timeoutMs: READ_WITHIN_MS, maxResponseBytes: LONGEST_LIST_BYTES };
/** Each may be as long as any: so many are in memory at once. */
const MOST_AT_ONCE = 8;
/** Of all lists together; each takes half a kilobyte. */
const MOST_SAMPLES = 200_000;

/**
 * What pods use, by the resource metrics API: listed once a namespace, for all that ask within a while.
 */
export class NamespaceUsage {
  readonly #client: ApiClient;
  readonly #lists: SharedReads<UsageList>;

  constructor({ client, clock }: { readonly client: ApiClient; readonly clock: Clock }) {
    this.#client = client;
    this.#lists = new SharedReads({
      clock,
      mostAtOnce: MOST_AT_ONCE,
      mostKept: MOST_SAMPLES,
      weigh: ({ size }) => 1 + size,
    });
  }

  /** @throws what the API client throws, for everybody who waited for the same list */
  async of(
    namespace: string,
    asked: { readonly maxAgeMs: number; readonly signal: AbortSignal },
  ): Promise<UsageList> {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${encodeURIComponent(namespace)}/pods`;
    return await this.#lists.get(
      namespace,
      asked,
      async () => new UsageList(podMetricsList(await this.#client.getJson(path, BOUNDS))),
    );
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

  get size(): number {
    return this.#all.length;
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
        const own = getOwn(usage.labels, key);
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

/** A pod's sample with the labels that its server gave it; old servers give none. */
export interface LabelledUsage extends PodUsage {
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/**
 * Reads a PodMetricsList. An item that cannot be read is left out: its pod counts as one without a sample.
 *
 * By hand, and without copies of what is read as it is: every pod of every HPA comes by here once a period, and a schema
 * took a twelfth of what deciding 5,000 HPAs took.
 *
 * @throws a MalformedResponse for what is no list
 */
export function podMetricsList(response: unknown): readonly LabelledUsage[] {
  const all: LabelledUsage[] = [];
  const windows = new Map<string, number | undefined>(); // most samples of a list have the same
  for (const item of listItems(response, 'pods')) {
    const usage = usageOf(item, windows);
    if (usage) all.push(usage);
  }
  return all;
}

function usageOf(item: unknown, windows: Map<string, number | undefined>): LabelledUsage | undefined {
  if (!isRecord(item) || !isRecord(item.metadata)) return undefined;
  const { metadata, timestamp, window } = item;
  const { name: pod, labels } = metadata;
  if (typeof pod !== 'string' || typeof timestamp !== 'string' || typeof window !== 'string')
    return undefined;
  if (labels !== undefined && !isTexts(labels)) return undefined;
  const containers = containersOf(item.containers);
  if (!containers) return undefined;
  const takenAtMs = Date.parse(timestamp);
  if (!windows.has(window)) windows.set(window, parseDurationMs(window));
  const windowMs = windows.get(window);
  if (Number.isNaN(takenAtMs) || windowMs === undefined) return undefined;
  return { pod, labels, takenAtMs, windowMs, containers };
}

function containersOf(value: unknown): PodUsage['containers'] | undefined {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return undefined;
  const containers: { name: string; usage: Readonly<Record<string, string>> }[] = [];
  for (const container of value as readonly unknown[]) {
    if (!isRecord(container) || typeof container.name !== 'string') return undefined;
    const usage = container.usage ?? NOTHING;
    if (!isTexts(usage)) return undefined;
    containers.push({ name: container.name, usage });
  }
  return containers;
}

const NOTHING: Readonly<Record<string, string>> = {};

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  if (!isRecord(value)) return false;
  return Object.values(value).every((text) => typeof text === 'string');
}
