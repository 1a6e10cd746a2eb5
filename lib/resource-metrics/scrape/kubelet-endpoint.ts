import type { ExtraResources, MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
import { nameInterner, type TimedResponseOrigin } from './decoding/complete-pod.ts';
import { decodeExposition, ExpectedContainers } from './decoding/exposition-decoder.ts';
import { decodeSummary } from './decoding/summary-decoder.ts';

/** Something that a kubelet can be asked, and how its response is read. */
export interface KubeletEndpoint {
  readonly path: string;
  /** @param body UTF-8 text */
  readonly decode: (body: Buffer, origin: TimedResponseOrigin) => MetricsBatch;
  /** Drops what is known of nodes that are gone. */
  readonly retain?: (isLive: (nodeName: string) => boolean) => void;
}

/** The endpoints by which kubelets report resources. */
export interface KubeletEndpoints {
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
