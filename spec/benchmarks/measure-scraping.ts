import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import { inspectKubelet, type KubeletEndpoint, kubeletPortOf } from './inspect-kubelet.ts';
import { readKubeletConnections } from './kubelet-connections.ts';
import { readProcessUsage } from './process-usage.ts';

/** What a server has cost that nobody asked anything, and how it scraped. */
export interface ScrapingResult {
  readonly cpuMillicores: number;
  readonly residentBytes: number;
  /** What it asks the first node's kubelet for. */
  readonly endpoints: readonly KubeletEndpoint[];
  /** Open to kubelets at the end, and how many of these were so at the beginning. */
  readonly connections: { readonly open: number; readonly kept: number };
}

/** Watches a server for `scrapeMs`. */
export async function measureScraping(
  system: SimulatedSystem,
  { scrapeMs }: { readonly scrapeMs: number },
): Promise<ScrapingResult> {
  const { pid } = system.server;
  const port = kubeletPortOf(system);
  const openBefore = readKubeletConnections(port);
  const [before, startMs] = [readProcessUsage(pid), performance.now()];
  await sleep(scrapeMs);
  const [after, endMs] = [readProcessUsage(pid), performance.now()];
  const open = readKubeletConnections(port);
  return {
    cpuMillicores: ((after.cpuMs - before.cpuMs) / (endMs - startMs)) * 1000,
    residentBytes: after.residentBytes,
    endpoints: await inspectKubelet(system),
    connections: { open: open.size, kept: open.intersection(openBefore).size },
  };
}
