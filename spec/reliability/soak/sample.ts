import { readProcessUsage } from '#spec/benchmarks/process-usage.ts';
import type { ServerInCluster } from '#spec/support/spawned-server-in-cluster.ts';

/** Measurements of a server at one time. */
export interface Sample {
  readonly atSeconds: number;
  readonly residentMebibytes: number;
  readonly heapMebibytes: number;
  /** Buffers, off the heap. */
  readonly externalMebibytes: number;
  /** The maximum event loop delay since the previous sample. */
  readonly loopDelayMs: number;
  readonly fileDescriptors: number;
  /** 99th percentile of the time since the last scrape of each healthy kubelet. */
  readonly healthyAgeSeconds: number;
  readonly faultyNodes: number;
  readonly servedPods: number;
  readonly runningPods: number;
  /** Containers whose served usage differs from the actual one. */
  readonly wrongContainers: number;
  /** Client requests without the expected response. */
  readonly failedRequests: number;
}

/** The part of a sample from the server's series and the kernel's data of its process. */
export type ProcessFigures = Omit<
  Sample,
  'atSeconds' | 'faultyNodes' | 'servedPods' | 'runningPods' | 'wrongContainers' | 'failedRequests'
>;

/** @param healthyNodes nodes whose kubelets have responded to all recent scrapes */
export async function sampleProcess(
  { request, server }: ServerInCluster,
  healthyNodes: readonly string[],
): Promise<ProcessFigures> {
  const { body } = await request('/metrics');
  const series = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1] ?? Number.NaN);
  return {
    residentMebibytes: readProcessUsage(server.pid).residentBytes / 2 ** 20,
    heapMebibytes: series('nodejs_heap_size_used_bytes') / 2 ** 20,
    externalMebibytes: series('nodejs_external_memory_bytes') / 2 ** 20,
    loopDelayMs: series('nodejs_eventloop_lag_max_seconds') * 1000,
    fileDescriptors: series('process_open_fds'),
    healthyAgeSeconds: percentile99(agesOf(body, new Set(healthyNodes))),
  };
}

/** The age of each node's last scrape, in seconds: the series has whole ones. */
function agesOf(metrics: string, nodes: ReadonlySet<string>): readonly number[] {
  const series = metrics.matchAll(
    /^metrics_server_kubelet_last_request_time_seconds\{node="([^"]+)"\} (\S+)$/gm,
  );
  return [...series].flatMap(([, node = '', atSeconds]) =>
    nodes.has(node) ? [Date.now() / 1000 - Number(atSeconds)] : [],
  );
}

function percentile99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;
}
