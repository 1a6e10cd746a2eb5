import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { pathSegment } from '#lib/kubernetes/path-segment.ts';
import { equalityOf, type LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { Clock } from '#lib/time/clock.ts';
import { parseDurationMs } from '#lib/time/duration.ts';
import type { PodUsage } from '../decision/decision-input.ts';
import { listItems, MAX_LIST_BYTES, READ_TIMEOUT_MS, SharedReads } from './shared-reads.ts';

const BOUNDS = { timeoutMs: READ_TIMEOUT_MS, maxResponseBytes: MAX_LIST_BYTES };
/** Concurrent lists; bounds memory, as a list has no size limit of its own. */
const MAX_CONCURRENT = 8;
/** Maximum of samples in all lists together; each takes half a kilobyte. */
const MAX_SAMPLES = 200_000;

/** Pod usage of the resource metrics API, listed once per namespace for all HPAs of it within a time. */
export class NamespaceUsage {
  readonly #client: ApiClient;
  readonly #lists: SharedReads<UsageList>;

  constructor({ client, clock }: { readonly client: ApiClient; readonly clock: Clock }) {
    this.#client = client;
    this.#lists = new SharedReads({
      clock,
      maxConcurrent: MAX_CONCURRENT,
      maxWeight: MAX_SAMPLES,
      weigh: ({ size }) => 1 + size,
    });
  }

  /** @throws errors of the API client, for all callers that share the list */
  async read(
    namespace: string,
    request: { readonly maxAgeMs: number; readonly signal: AbortSignal },
  ): Promise<UsageList> {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${pathSegment(namespace)}/pods`;
    return await this.#lists.get(
      namespace,
      request,
      async () => new UsageList(podMetricsList(await this.#client.getJson(path, BOUNDS))),
    );
  }
}

/** The samples of a namespace, indexed by labels. */
export class UsageList {
  readonly #all: readonly LabelledUsage[];
  /** By label key and value, for the keys that selectors have used. */
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
   * @param pods the selected pods, for samples without labels
   */
  select(selector: LabelSelector, pods: readonly { readonly name: string }[]): readonly LabelledUsage[] {
    const equality = equalityOf(selector);
    const candidates = equality ? this.#with(equality.key, equality.value) : this.#all;
    const labelled = candidates.filter(({ labels }) => labels && selector.matches(labels));
    if (this.#withoutLabels.length === 0) return labelled;
    const names = new Set(pods.map(({ name }) => name));
    return [...labelled, ...this.#withoutLabels.filter(({ pod }) => names.has(pod))];
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

/** A pod's sample with its labels; old servers return none. */
export interface LabelledUsage extends PodUsage {
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/**
 * Decodes a PodMetricsList. A malformed item is left out: its pod has no sample.
 *
 * Decoded by hand without copies: every pod of every HPA passes here once a period, and a schema took a twelfth of the
 * time of deciding 5,000 HPAs.
 *
 * @throws {MalformedResponse} for a response that is not a list
 */
export function podMetricsList(response: unknown): readonly LabelledUsage[] {
  const all: LabelledUsage[] = [];
  const windows = new Map<string, number | undefined>(); // most samples of a list have the same window
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
  for (const key in value) if (typeof value[key] !== 'string') return false;
  return true;
}
