import type { ExtraResources, MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { Clock } from '#lib/time/clock.ts';
import { nameInterner, type TimedResponseOrigin } from './decoding/complete-pod.ts';
import { decodeExposition, ExpectedContainers } from './decoding/exposition-decoder.ts';
import { decodeSummary } from './decoding/summary-decoder.ts';
import { KubeletStatusError } from './kubelet/kubelet-error.ts';

/** Endpoint of kubelets to scrape; `auto` chooses it by node. */
export type EndpointPolicy = 'summary' | 'resource' | 'auto';

/** When to try the summary again of a node that denied it: its version or RBAC may have changed. */
const RECHECK_MS = 3_600_000;

/** The endpoint does not exist, or is not permitted, as with metrics-server's RBAC. */
const FALLBACK_STATUSES: readonly number[] = [403, 404];

/** Chooses the endpoint to scrape of each node. */
export class EndpointChoice {
  readonly #policy: EndpointPolicy;
  readonly #clock: Clock;
  readonly #endpoints: KubeletEndpoints;
  /** Nodes without the summary, by the time when it is tried again. */
  readonly #untilMs = new Map<string, number>();

  constructor(policy: EndpointPolicy, clock: Clock, endpoints: KubeletEndpoints = kubeletEndpoints()) {
    this.#policy = policy;
    this.#clock = clock;
    this.#endpoints = endpoints;
  }

  /**
   * Requests the preferred endpoint of a node, then the other one if the kubelet denies it. A path that the node
   * declares replaces the resource endpoint.
   *
   * @throws the error of the last request
   */
  async request<T>(
    { name: nodeName, resourceMetricsPath }: Pick<LiveNode, 'name' | 'resourceMetricsPath'>,
    request: (endpoint: KubeletEndpoint) => Promise<T>,
  ): Promise<T> {
    const { resource } = this.#endpoints;
    if (resourceMetricsPath !== undefined && this.#policy !== 'summary') {
      return await request({ ...resource, path: resourceMetricsPath });
    }
    const endpoint = this.#chooseEndpoint(nodeName);
    try {
      return await request(endpoint);
    } catch (error) {
      if (!this.#mayTryOther(endpoint, error)) throw error;
    }
    const response = await request(resource);
    this.#untilMs.set(nodeName, this.#clock.monotonicMs() + RECHECK_MS);
    return response;
  }

  /** Removes nodes that are no longer live. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#untilMs.keys()) if (!isLive(nodeName)) this.#untilMs.delete(nodeName);
    for (const { retain } of Object.values(this.#endpoints)) retain?.(isLive);
  }

  #chooseEndpoint(nodeName: string): KubeletEndpoint {
    if (this.#policy !== 'auto') return this.#endpoints[this.#policy];
    const untilMs = this.#untilMs.get(nodeName);
    return untilMs !== undefined && this.#clock.monotonicMs() < untilMs
      ? this.#endpoints.resource
      : this.#endpoints.summary;
  }

  #mayTryOther(endpoint: KubeletEndpoint, error: unknown): boolean {
    if (this.#policy !== 'auto' || endpoint !== this.#endpoints.summary) return false;
    return error instanceof KubeletStatusError && FALLBACK_STATUSES.includes(error.statusCode);
  }
}

interface KubeletEndpoint {
  readonly path: string;
  /** @param body UTF-8 text */
  readonly decode: (body: Buffer, origin: TimedResponseOrigin) => MetricsBatch;
  /** Removes nodes that are no longer live. */
  readonly retain?: (isLive: (nodeName: string) => boolean) => void;
}

interface KubeletEndpoints {
  /** Reports UIDs of pods and the node's own rate; requires `nodes/stats`. */
  readonly summary: KubeletEndpoint;
  /** The endpoint that metrics-server scrapes; requires `nodes/metrics`. */
  readonly resource: KubeletEndpoint;
}

/** @param extras require the full summary, twice as long, for storage */
export function kubeletEndpoints(extras: ExtraResources = new Set()): KubeletEndpoints {
  const query = extras.has('ephemeral-storage') ? '' : '?only_cpu_and_memory=true';
  const options = { extras, names: nameInterner() };
  const expected = new ExpectedContainers();
  return {
    summary: {
      path: `/stats/summary${query}`,
      decode: (body, origin) => decodeSummary(body, origin, options),
    },
    resource: {
      path: '/metrics/resource',
      decode: (body, origin) => decodeExposition(body, origin, { ...options, expected }),
      retain: (isLive) => expected.retain(isLive),
    },
  };
}
