import { performance } from 'node:perf_hooks';
import { Client } from 'undici';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import { readAdminAccess } from '../credentials.ts';
import { PROBE, receive, send } from '../load/send.ts';
import { quantile } from '../quantile.ts';
import { pace } from './pace.ts';
import { type Buckets, bucketsIn, quantileOfBuckets } from './scrape-buckets.ts';

/** Effect of a load on other clients. */
export interface Noticed {
  /** Latency of liveness probes. */
  readonly probeP99Ms: number;
  /** Duration of scrapes, at the resolution of the server's histogram; `null` if none ended. */
  readonly scrapeP99Ms: number | null;
}

const PROBE_EVERY_MS = 200;

/** Probes a server and reads its scrape durations during a load. */
export async function noticed<Outcome>(
  system: SimulatedSystem,
  forMs: number,
  load: () => Promise<Outcome>,
): Promise<readonly [Outcome, Noticed]> {
  const { tls } = await readAdminAccess(system);
  await using stack = new AsyncDisposableStack();
  const client = new Client(system.serverOrigin, { connect: { ...tls, rejectUnauthorized: false } });
  stack.defer(() => client.close());
  const before = await scrapesOf(client);
  const probesMs: number[] = [];
  const probing = pace({ everyMs: PROBE_EVERY_MS, forMs }, async () => {
    const sentMs = performance.now();
    await send(client, PROBE);
    probesMs.push(performance.now() - sentMs);
  });
  const [outcome] = await Promise.all([load(), probing]);
  const scrapeP99S = quantileOfBuckets(before, await scrapesOf(client), 0.99);
  return [
    outcome,
    {
      probeP99Ms: quantile(
        probesMs.toSorted((a, b) => a - b),
        0.99,
      ),
      scrapeP99Ms: scrapeP99S === undefined ? null : scrapeP99S * 1000,
    },
  ];
}

async function scrapesOf(client: Client): Promise<Buckets> {
  const chunks: Buffer[] = [];
  await receive(client, { path: '/metrics', mediaType: '*/*', gzip: false }, (chunk) => chunks.push(chunk));
  return bucketsIn(Buffer.concat(chunks).toString());
}
