import type { ExtraResources, MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { Clock } from '#lib/time/clock.ts';
import { nameInterner, type TimedResponseOrigin } from './decoding/complete-pod.ts';
import { decodeExposition, ExpectedContainers } from './decoding/exposition-decoder.ts';
import { decodeSummary } from './decoding/summary-decoder.ts';
import { KubeletStatusError } from './kubelet/kubelet-error.ts';

/** Which endpoint kubelets are asked: one of the two, or for each the one that it has. */
export type EndpointPolicy = 'summary' | 'resource' | 'auto';

/** A node that refused the summary is asked for it again this much later: it may have been upgraded, or its RBAC. */
const RECHECK_MS = 3_600_000;

/** No such endpoint, or no permission for it, as where only the reference's RBAC is installed. */
const REFUSALS_OF_AN_ENDPOINT: readonly number[] = [403, 404];

/** Remembers by node which endpoint its kubelet has. */
export class EndpointChoice {
  readonly #policy: EndpointPolicy;
  readonly #clock: Clock;
  readonly #endpoints: KubeletEndpoints;
  /** Nodes that have only the resource endpoint, and until when that is taken for granted. */
  readonly #untilMs = new Map<string, number>();

  constructor(policy: EndpointPolicy, clock: Clock, endpoints: KubeletEndpoints = kubeletEndpoints()) {
    this.#policy = policy;
    this.#clock = clock;
    this.#endpoints = endpoints;
  }

  /**
   * Asks one node, by the endpoint of choice, and the other one if the kubelet refuses that. A node that names a path
   * of its own is asked for resources there.
   *
   * @throws what `ask` throws of the last endpoint asked
   */
  async ask<T>(
    { name: nodeName, resourceMetricsPath }: Pick<LiveNode, 'name' | 'resourceMetricsPath'>,
    ask: (endpoint: KubeletEndpoint) => Promise<T>,
  ): Promise<T> {
    const { resource } = this.#endpoints;
    if (resourceMetricsPath !== undefined && this.#policy !== 'summary') {
      return await ask({ ...resource, path: resourceMetricsPath });
    }
    const endpoint = this.#endpointOf(nodeName);
    try {
      return await ask(endpoint);
    } catch (error) {
      if (!this.#mayTryOther(endpoint, error)) throw error;
    }
    const response = await ask(resource);
    this.#untilMs.set(nodeName, this.#clock.monotonicMs() + RECHECK_MS);
    return response;
  }

  /** Drops what is known of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#untilMs.keys()) if (!isLive(nodeName)) this.#untilMs.delete(nodeName);
    for (const { retain } of Object.values(this.#endpoints)) retain?.(isLive);
  }

  #endpointOf(nodeName: string): KubeletEndpoint {
    if (this.#policy !== 'auto') return this.#endpoints[this.#policy];
    const untilMs = this.#untilMs.get(nodeName);
    return untilMs !== undefined && this.#clock.monotonicMs() < untilMs
      ? this.#endpoints.resource
      : this.#endpoints.summary;
  }

  #mayTryOther(endpoint: KubeletEndpoint, error: unknown): boolean {
    if (this.#policy !== 'auto' || endpoint !== this.#endpoints.summary) return false;
    return error instanceof KubeletStatusError && REFUSALS_OF_AN_ENDPOINT.includes(error.statusCode);
  }
}

/** Something that a kubelet can be asked, and how its response is read. */
interface KubeletEndpoint {
  readonly path: string;
  /** @param body UTF-8 text */
  readonly decode: (body: Buffer, origin: TimedResponseOrigin) => MetricsBatch;
  /** Drops what is known of nodes that are gone. */
  readonly retain?: (isLive: (nodeName: string) => boolean) => void;
}

/** The endpoints by which kubelets report resources. */
interface KubeletEndpoints {
  /** Tells pods' UIDs and a node's own rate; guarded by `nodes/stats`. */
  readonly summary: KubeletEndpoint;
  /** What the reference asks; guarded by `nodes/metrics`. */
  readonly resource: KubeletEndpoint;
}

/**
 * How kubelets are asked for CPU and memory.
 *
 * @param extras what they are asked for beside these; only the full summary, twice as long, reports storage
 */
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
