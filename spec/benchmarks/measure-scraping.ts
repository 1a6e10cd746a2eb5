import { setTimeout as sleep } from 'node:timers/promises';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import { spawnBareScraper } from './bare-scraper/spawn-bare-scraper.ts';
import type { ServerBeside } from './beside/spawn-beside.ts';
import { type WatchedUsage, watchUsage } from './beside/watch-usage.ts';
import { inspectKubelet, type KubeletEndpoint, kubeletPortOf } from './inspect-kubelet.ts';
import { readKubeletConnections } from './kubelet-connections.ts';
import { RESOLUTION_MS } from './scenarios.ts';

/** Cost of a server without requests, and details of its scraping. */
export interface ScrapingResult {
  readonly cpuMillicores: number;
  readonly residentBytes: number;
  /** Cost of the bare scraper beside it, which sends the same requests and discards the responses; if enabled. */
  readonly bare?: WatchedUsage | undefined;
  /** Cost of the servers that scrape beside it. */
  readonly beside: readonly (WatchedUsage & { readonly command: string })[];
  /** Endpoints that it requests from the first node's kubelet. */
  readonly endpoints: readonly KubeletEndpoint[];
  /** The server's connections to kubelets: open at the end, and those among them that were open at the beginning. */
  readonly connections: { readonly open: number; readonly retained: number };
}

export interface ScrapingOptions {
  readonly scrapeMs: number;
  /** Enables a bare scraper beside it, with its path and number of nodes. */
  readonly bare?: { readonly nodes: number; readonly path: string } | undefined;
  readonly beside: readonly ServerBeside[];
}

/** Measures a server for `scrapeMs`. */
export async function measureScraping(
  system: SimulatedSystem,
  { scrapeMs, bare, beside }: ScrapingOptions,
): Promise<ScrapingResult> {
  const connectionsOf = { pid: system.server.pid, kubeletPort: kubeletPortOf(system) };
  await using stack = new AsyncDisposableStack();
  const bareScraper =
    bare && stack.use(await spawnBareScraper(system, { ...bare, intervalMs: RESOLUTION_MS }));
  if (bareScraper) await sleep(RESOLUTION_MS); // the first cycle is slower
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
    connections: { open: open.size, retained: open.intersection(openBefore).size },
  };
}
