// Bare scraper in a process of its own: reads its options as JSON, and runs until it is stopped.
import { readFileSync } from 'node:fs';
import { limitYoungGeneration } from '#lib/heap-limits.ts';
import { nodeAddress } from '#simulator/nodes/population.ts';
import { BareScraper } from './bare-scraper.ts';
import type { BareScraperOrder } from './spawn-bare-scraper.ts';

limitYoungGeneration();
const { nodes, port, path, token, caFile, intervalMs } = JSON.parse(
  process.argv[2] ?? '',
) as BareScraperOrder;
const addresses = Array.from({ length: nodes }, (_, index) => `${nodeAddress(index + 1)}:${port}`);
const scraper = new BareScraper({ addresses, path, token, ca: readFileSync(caFile, 'utf8'), intervalMs });
process.on('SIGTERM', () => {
  const { responses, refusals, bytes } = scraper.scrapes;
  scraper[Symbol.dispose]();
  console.log(`${responses} responses of ${bytes} bytes, ${refusals} refusals`);
});
await scraper.start();
console.log('Scraping');
