import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessUsage, readProcessUsage } from '../process-usage.ts';

/** Resource usage of a process during an interval. */
export interface WatchedUsage {
  readonly cpuMillicores: number;
  readonly residentBytes: number;
  /** Since the start of the process. */
  readonly peakResidentBytes: number;
}

/** Measures processes during the same interval, so that other activity on the machine affects all equally. */
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
