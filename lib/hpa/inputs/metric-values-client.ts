import * as z from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { pathSegment } from '#lib/kubernetes/path-segment.ts';
import type { Clock } from '#lib/time/clock.ts';
import { listItems, MAX_LIST_BYTES, READ_TIMEOUT_MS, SharedReads } from './shared-reads.ts';

const BOUNDS = { timeoutMs: READ_TIMEOUT_MS, maxResponseBytes: MAX_LIST_BYTES };
/** Maximum of values in all lists together; each takes about 100 bytes. */
const MAX_VALUES = 200_000;

/** Reads values of the custom and external metrics APIs; HPAs with equal requests share responses. */
export class MetricValuesReader {
  readonly #client: ApiClient;
  readonly #lists: SharedReads<readonly MetricValue[]>;

  constructor({ client, clock }: { readonly client: ApiClient; readonly clock: Clock }) {
    this.#client = client;
    this.#lists = new SharedReads({
      clock,
      maxWeight: MAX_VALUES,
      weigh: (values) => 1 + values.length,
    });
  }

  /**
   * @param path with its query
   * @throws errors of the API client, for all callers that share the request
   */
  async read(
    path: string,
    request: { readonly maxAgeMs: number; readonly signal: AbortSignal },
  ): Promise<readonly MetricValue[]> {
    const [, tenant = ''] = /\/namespaces\/([^/?]+)/.exec(path) ?? [];
    return await this.#lists.get(path, { ...request, tenant }, async () =>
      metricValues(await this.#client.getJson(path, BOUNDS)),
    );
  }
}

/** The failure of Kubernetes' controller when no custom metrics API is registered. */
export const NO_CUSTOM_METRICS = 'no custom metrics API (custom.metrics.k8s.io) registered';

const GROUP = z.object({ versions: z.array(z.object({ version: z.string() })) });

/** Supported versions, the preferred one first. */
export const CUSTOM_METRICS_VERSIONS: readonly string[] = ['v1beta2', 'v1beta1'];

/** The version is discovered again after this time; sooner when none was served. */
const MAX_AGE_MS = 600_000;
const ABSENT_AGE_MS = 15_000;

/** Discovers the version of the custom metrics API. */
export class CustomMetricsApi {
  readonly #client: ApiClient;
  readonly #versions: SharedReads<string | undefined>;
  #isAbsent = false;

  constructor({ client, clock }: { readonly client: ApiClient; readonly clock: Clock }) {
    this.#client = client;
    this.#versions = new SharedReads({ clock });
  }

  /** @returns `undefined` when no supported version is served */
  async version(signal: AbortSignal): Promise<string | undefined> {
    const maxAgeMs = this.#isAbsent ? ABSENT_AGE_MS : MAX_AGE_MS;
    const version = await this.#versions.get('', { maxAgeMs, signal }, () => this.#discover());
    this.#isAbsent = version === undefined;
    return version;
  }

  async #discover(): Promise<string | undefined> {
    try {
      const response = await this.#client.getJson('/apis/custom.metrics.k8s.io', {
        timeoutMs: READ_TIMEOUT_MS,
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

/** The path of a custom metric of all pods that a selector selects. */
export function podsMetricPath(version: string, metric: MetricOf): string {
  const query = queryOf({ labelSelector: metric.labelSelector, metricLabelSelector: metric.metricSelector });
  return `${customPath(version, metric.namespace)}/pods/%2A/${segment(metric.name)}${query}`;
}

/**
 * The path of a custom metric of one object. Metrics of a namespace have a path of their own; objects without a namespace
 * use the one of the HPA.
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

/** The path of an external metric; in lower case, as in Kubernetes' client. */
export function externalMetricPath(metric: MetricOf): string {
  const namespace = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${segment(metric.namespace)}`;
  return `${namespace}/${segment(metric.name.toLowerCase())}${queryOf({ labelSelector: metric.metricSelector })}`;
}

interface MetricOf {
  readonly namespace: string;
  readonly name: string;
  /** Selects pods. */
  readonly labelSelector?: string;
  /** Selects by labels of the metric; empty for none. */
  readonly metricSelector: string;
}

function customPath(version: string, namespace: string): string {
  return `/apis/custom.metrics.k8s.io/${version}/namespaces/${segment(namespace)}`;
}

/** Go leaves a colon as it is. */
function segment(text: string): string {
  return pathSegment(text).replaceAll('%3A', ':');
}

function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) query.append(name, value);
  return query.size === 0 ? '' : `?${query}`;
}

/** An item of the custom or external metrics API. */
interface MetricValue {
  /** Empty for an external metric. */
  readonly pod: string;
  /** `undefined` when the value is missing or malformed. */
  readonly value: string | undefined;
  readonly takenAtMs: number | undefined;
}

const VALUE = z.object({
  describedObject: z.object({ name: z.string().optional() }).optional(),
  timestamp: z.string().nullish(),
  value: z.union([z.string(), z.number()]),
});

/**
 * Decodes a MetricValueList or ExternalMetricValueList of any version.
 *
 * @throws {MalformedResponse} for a response that is not a list
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

/** The time of the oldest value, as in a reading. */
export function oldestOf(values: readonly MetricValue[]): { readonly takenAtMs?: number } {
  let oldest: number | undefined;
  for (const { takenAtMs } of values) {
    if (takenAtMs !== undefined && !(oldest !== undefined && oldest <= takenAtMs)) oldest = takenAtMs;
  }
  return oldest === undefined ? {} : { takenAtMs: oldest };
}
