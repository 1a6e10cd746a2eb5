import { readProcessUsage } from '#spec/benchmarks/process-usage.ts';
import type { ServerInCluster } from '#spec/support/spawned-server-in-cluster.ts';

/** How a server fares at one moment. */
export interface Sample {
  readonly atSeconds: number;
  readonly residentMebibytes: number;
  readonly heapMebibytes: number;
  /** Of buffers, off the heap. */
  readonly externalMebibytes: number;
  /** The longest that the event loop was held up since the sample before. */
  readonly loopDelayMs: number;
  readonly fileDescriptors: number;
  readonly servedPods: number;
  readonly runningPods: number;
  /** Containers whose usage is not what it really is. */
  readonly wrongContainers: number;
  /** Requests of clients that were not answered as they should be. */
  readonly failedRequests: number;
}

/** What the server tells and the kernel knows of its process. */
export async function sampleProcess({
  ask,
  server,
}: ServerInCluster): Promise<
  Pick<
    Sample,
    'residentMebibytes' | 'heapMebibytes' | 'externalMebibytes' | 'loopDelayMs' | 'fileDescriptors'
  >
> {
  const { body } = await ask('/metrics');
  const series = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1] ?? Number.NaN);
  return {
    residentMebibytes: readProcessUsage(server.pid).residentBytes / 2 ** 20,
    heapMebibytes: series('nodejs_heap_size_used_bytes') / 2 ** 20,
    externalMebibytes: series('nodejs_external_memory_bytes') / 2 ** 20,
    loopDelayMs: series('nodejs_eventloop_lag_max_seconds') * 1000,
    fileDescriptors: series('process_open_fds'),
  };
}
