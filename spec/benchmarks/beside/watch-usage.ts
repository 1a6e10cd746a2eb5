import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessUsage, readProcessUsage } from '../process-usage.ts';

/** What a process took over a while. */
export interface WatchedUsage {
  readonly cpuMillicores: number;
  readonly residentBytes: number;
  /** Since it started. */
  readonly peakResidentBytes: number;
}

/** Watches processes over the same stretch of time, so that what else the machine did was the same for all of them. */
export async function watchUsage(pids: readonly number[], forMs: number): Promise<WatchedUsage[]> {
  const [before, startMs] = [pids.map(readProcessUsage), performance.now()];
  await sleep(forMs);
  const [after, endMs] = [pids.map(readProcessUsage), performance.now()];
  return after.map((usage, index) => ({
    cpuMillicores: ((usage.cpuMs - (before[index] as ProcessUsage).cpuMs) / (endMs - startMs)) * 1000,
    residentBytes: usage.residentBytes,
    peakResidentBytes: usage.peakResidentBytes,
  }));
}
