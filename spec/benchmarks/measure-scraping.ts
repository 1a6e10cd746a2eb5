import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import { spawnBareScraper } from './bare-scraper/spawn-bare-scraper.ts';
import { inspectKubelet, type KubeletEndpoint, kubeletPortOf } from './inspect-kubelet.ts';
import { readKubeletConnections } from './kubelet-connections.ts';
import { type ProcessUsage, readProcessUsage } from './process-usage.ts';
import { RESOLUTION_MS } from './scenarios.ts';

/** What a server has cost that nobody asked anything, and how it scraped. */
export interface ScrapingResult {
  readonly cpuMillicores: number;
  readonly residentBytes: number;
  /** What a bare program costs beside it that asks the same and reads nothing; where that was asked for. */
  readonly bare?: { readonly cpuMillicores: number; readonly residentBytes: number } | undefined;
  /** What it asks the first node's kubelet for. */
  readonly endpoints: readonly KubeletEndpoint[];
  /** Open to kubelets at the end, and how many of these were so at the beginning. */
  readonly connections: { readonly open: number; readonly kept: number };
}

/** How to watch. */
export interface ScrapingOptions {
  readonly scrapeMs: number;
  /** Set where a bare program is to ask as many nodes for that beside it. */
  readonly bare?: { readonly nodes: number; readonly path: string } | undefined;
}

/** Watches a server for `scrapeMs`. */
export async function measureScraping(
  system: SimulatedSystem,
  { scrapeMs, bare }: ScrapingOptions,
): Promise<ScrapingResult> {
  const { pid } = system.server;
  const port = kubeletPortOf(system);
  await using stack = new AsyncDisposableStack();
  const bareScraper =
    bare && stack.use(await spawnBareScraper(system, { ...bare, intervalMs: RESOLUTION_MS }));
  if (bareScraper) await sleep(RESOLUTION_MS); // its first cycle is slower
  const openBefore = readKubeletConnections(port);
  const [before, startMs] = [readProcessUsage(pid), performance.now()];
  const bareBefore = bareScraper && readProcessUsage(bareScraper.pid);
  await sleep(scrapeMs);
  const [after, endMs] = [readProcessUsage(pid), performance.now()];
  const bareAfter = bareScraper && readProcessUsage(bareScraper.pid);
  const millicores = (earlier: ProcessUsage, later: ProcessUsage) =>
    ((later.cpuMs - earlier.cpuMs) / (endMs - startMs)) * 1000;
  const open = readKubeletConnections(port);
  return {
    cpuMillicores: millicores(before, after),
    residentBytes: after.residentBytes,
    bare: bareBefore &&
      bareAfter && {
        cpuMillicores: millicores(bareBefore, bareAfter),
        residentBytes: bareAfter.residentBytes,
      },
    endpoints: await inspectKubelet(system),
    connections: { open: open.size, kept: open.intersection(openBefore).size },
  };
}
