import * as z from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { Clock } from '#lib/time/clock.ts';
import { LONGEST_LIST_BYTES, listItems, READ_WITHIN_MS, SharedReads } from './shared-reads.ts';

const BOUNDS = { timeoutMs: READ_WITHIN_MS, maxResponseBytes: LONGEST_LIST_BYTES };
/** Of all lists together; each takes some 100 bytes. */
const MOST_VALUES = 200_000;

/** Reads values of the custom and external metrics APIs; HPAs that ask for the same share what was read. */
export class MetricValuesReader {
  readonly #client: ApiClient;
  readonly #lists: SharedReads<readonly MetricValue[]>;

  constructor({ client, clock }: { readonly client: ApiClient; readonly clock: Clock }) {
    this.#client = client;
    this.#lists = new SharedReads({
      clock,
      mostKept: MOST_VALUES,
      weigh: (values) => 1 + values.length,
    });
  }

  /**
   * @param path with its query
   * @throws what the API client throws, for everybody who waited for the same list
   */
  async of(
    path: string,
    asked: { readonly maxAgeMs: number; readonly signal: AbortSignal },
  ): Promise<readonly MetricValue[]> {
    const [, tenant = ''] = /\/namespaces\/([^/?]+)/.exec(path) ?? [];
    return await this.#lists.get(path, { ...asked, tenant }, async () =>
      metricValues(await this.#client.getJson(path, BOUNDS)),
    );
  }
}

/** Says in the controller's words that nobody serves custom metrics. */
export const NO_CUSTOM_METRICS = 'no custom metrics API (custom.metrics.k8s.io) registered';

const GROUP = z.object({ versions: z.array(z.object({ version: z.string() })) });

/** Versions that are understood, the preferred one first. */
export const CUSTOM_METRICS_VERSIONS: readonly string[] = ['v1beta2', 'v1beta1'];

/** The version is asked for again after this long; soon, where there was none. */
const MAX_AGE_MS = 600_000;
const ABSENT_AGE_MS = 15_000;

/** Knows in which version custom metrics are served. */
export class CustomMetricsApi {
  readonly #client: ApiClient;
  readonly #versions: SharedReads<string | undefined>;
  #isAbsent = false;

  constructor({ client, clock }: { readonly client: ApiClient; readonly clock: Clock }) {
    this.#client = client;
    this.#versions = new SharedReads({ clock });
  }

  /** @returns `undefined` where none that is understood is served */
  async version(signal: AbortSignal): Promise<string | undefined> {
    const maxAgeMs = this.#isAbsent ? ABSENT_AGE_MS : MAX_AGE_MS;
    const version = await this.#versions.get('', { maxAgeMs, signal }, () => this.#ask());
    this.#isAbsent = version === undefined;
    return version;
  }

  async #ask(): Promise<string | undefined> {
    try {
      const response = await this.#client.getJson('/apis/custom.metrics.k8s.io', {
        timeoutMs: READ_WITHIN_MS,
      });
      const group = GROUP.safeParse(response);
      const served = new Set(group.data?.versions.map((one) => one.version));
      return CUSTOM_METRICS_VERSIONS.find((one) => served.has(one));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

/** Where a custom metric of all pods that a selector selects is served. */
export function podsMetricPath(version: string, metric: MetricOf): string {
  const query = queryOf({ labelSelector: metric.labelSelector, metricLabelSelector: metric.metricSelector });
  return `${customPath(version, metric.namespace)}/pods/%2A/${segment(metric.name)}${query}`;
}

/**
 * Where a custom metric of one object is served: of the namespace itself at a place of its own, of an object without a
 * namespace in that of the HPA.
 *
 * @param resource as in `ingresses.networking.k8s.io`
 */
export function objectMetricPath(
  version: string,
  metric: MetricOf,
  { resource, name }: { readonly resource: string; readonly name: string },
): string {
  const query = queryOf({ metricLabelSelector: metric.metricSelector });
  const metricName = segment(metric.name);
  if (resource === 'namespaces') return `${customPath(version, name)}/metrics/${metricName}${query}`;
  const object = `${segment(resource)}/${segment(name)}`;
  return `${customPath(version, metric.namespace)}/${object}/${metricName}${query}`;
}

/** Where an external metric is served; Kubernetes' client asks for it in lower case. */
export function externalMetricPath(metric: MetricOf): string {
  const namespace = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${segment(metric.namespace)}`;
  return `${namespace}/${segment(metric.name.toLowerCase())}${queryOf({ labelSelector: metric.metricSelector })}`;
}

/** Which metric is asked for. */
interface MetricOf {
  readonly namespace: string;
  readonly name: string;
  /** Of pods. */
  readonly labelSelector?: string;
  /** Of the metric's own labels; empty for none. */
  readonly metricSelector: string;
}

function customPath(version: string, namespace: string): string {
  return `/apis/custom.metrics.k8s.io/${version}/namespaces/${segment(namespace)}`;
}

/** A part of a path; Go leaves a colon as it is. @throws for what would lead elsewhere */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..')
    throw new Error(`Cannot ask for ${JSON.stringify(text)}: it is no name in a path`);
  return encodeURIComponent(text.toWellFormed()).replaceAll('%3A', ':');
}

function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) query.append(name, value);
  return query.size === 0 ? '' : `?${query}`;
}

/** An item of the custom or external metrics API. */
interface MetricValue {
  /** Of an external metric empty. */
  readonly pod: string;
  /** `undefined` where the item has none that can be read. */
  readonly value: string | undefined;
  readonly takenAtMs: number | undefined;
}

const VALUE = z.object({
  describedObject: z.object({ name: z.string().optional() }).optional(),
  timestamp: z.string().nullish(),
  value: z.union([z.string(), z.number()]),
});

/**
 * Reads a MetricValueList or ExternalMetricValueList of any version.
 *
 * @throws a MalformedResponse for what is no list
 */
export function metricValues(response: unknown): readonly MetricValue[] {
  return listItems(response, 'metrics').map((item) => {
    const read = VALUE.safeParse(item);
    if (!read.success) return WITHOUT_VALUE;
    const { describedObject, timestamp, value } = read.data;
    const takenAtMs = timestamp ? Date.parse(timestamp) : Number.NaN;
    return {
      pod: describedObject?.name ?? '',
      value: String(value),
      takenAtMs: Number.isNaN(takenAtMs) ? undefined : takenAtMs,
    };
  });
}

const WITHOUT_VALUE: MetricValue = { pod: '', value: undefined, takenAtMs: undefined };

/** When the oldest of some values was taken, as a reading tells it. */
export function oldestOf(values: readonly MetricValue[]): { readonly takenAtMs?: number } {
  let oldest: number | undefined;
  for (const { takenAtMs } of values) {
    if (takenAtMs !== undefined && !(oldest !== undefined && oldest <= takenAtMs)) oldest = takenAtMs;
  }
  return oldest === undefined ? {} : { takenAtMs: oldest };
}
