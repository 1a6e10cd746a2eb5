import { setTimeout as sleep } from 'node:timers/promises';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import { spawnBareScraper } from './bare-scraper/spawn-bare-scraper.ts';
import type { ServerBeside } from './beside/spawn-beside.ts';
import { type WatchedUsage, watchUsage } from './beside/watch-usage.ts';
import { inspectKubelet, type KubeletEndpoint, kubeletPortOf } from './inspect-kubelet.ts';
import { readKubeletConnections } from './kubelet-connections.ts';
import { RESOLUTION_MS } from './scenarios.ts';

/** What a server has cost that nobody asked anything, and how it scraped. */
export interface ScrapingResult {
  readonly cpuMillicores: number;
  readonly residentBytes: number;
  /** What a bare program costs beside it that asks the same and reads nothing; where that was asked for. */
  readonly bare?: WatchedUsage | undefined;
  /** What other servers cost that scrape beside it. */
  readonly beside: readonly (WatchedUsage & { readonly command: string })[];
  /** What it asks the first node's kubelet for. */
  readonly endpoints: readonly KubeletEndpoint[];
  /** Its own: open to kubelets at the end, and how many of these were so at the beginning. */
  readonly connections: { readonly open: number; readonly kept: number };
}

/** How to watch. */
export interface ScrapingOptions {
  readonly scrapeMs: number;
  /** Set where a bare program is to ask as many nodes for that beside it. */
  readonly bare?: { readonly nodes: number; readonly path: string } | undefined;
  readonly beside: readonly ServerBeside[];
}

/** Watches a server for `scrapeMs`. */
export async function measureScraping(
  system: SimulatedSystem,
  { scrapeMs, bare, beside }: ScrapingOptions,
): Promise<ScrapingResult> {
  const connectionsOf = { pid: system.server.pid, kubeletPort: kubeletPortOf(system) };
  await using stack = new AsyncDisposableStack();
  const bareScraper =
    bare && stack.use(await spawnBareScraper(system, { ...bare, intervalMs: RESOLUTION_MS }));
  if (bareScraper) await sleep(RESOLUTION_MS); // its first cycle is slower
  const openBefore = readKubeletConnections(connectionsOf);
  const pids = [
    system.server,
    ...(bareScraper ? [bareScraper] : []),
    ...beside.map(({ program }) => program),
  ].map((program) => program.pid);
  const usages = await watchUsage(pids, scrapeMs);
  const own = usages.shift() as WatchedUsage;
  const ofBare = bareScraper && usages.shift();
  const open = readKubeletConnections(connectionsOf);
  return {
    cpuMillicores: own.cpuMillicores,
    residentBytes: own.residentBytes,
    bare: ofBare,
    beside: beside.map(({ command }, index) => ({ command, ...(usages[index] as WatchedUsage) })),
    endpoints: await inspectKubelet(system),
    connections: { open: open.size, kept: open.intersection(openBefore).size },
  };
}
