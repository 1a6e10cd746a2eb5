import { performance } from 'node:perf_hooks';
import { Client } from 'undici';
import { readAdminAccess } from '../credentials.ts';
import { PROBE, send } from '../load/send.ts';
import { MEDIA_TYPES } from '../scenarios.ts';
import type { BackgroundLoad, LoadOutcome } from './background-load.ts';
import { pace } from './pace.ts';

const DASHBOARDS = 50;
const REFRESH_MS = 5_000;
const ALL_PODS = {
  path: '/apis/metrics.k8s.io/v1beta1/pods',
  mediaType: MEDIA_TYPES.json,
  gzip: true,
};

/** Dashboards that each list all pods periodically, evenly offset, over one connection each. */
export const DASHBOARD_LOAD: BackgroundLoad = {
  name: 'dash',
  what: `${DASHBOARDS} dashboards that list all pods, each every ${REFRESH_MS / 1000} s`,
  async prepare({ system }) {
    const { tls } = await readAdminAccess(system);
    const connect = { ...tls, rejectUnauthorized: false };
    await using stack = new AsyncDisposableStack();
    const clients = Array.from({ length: DASHBOARDS }, () => new Client(system.serverOrigin, { connect }));
    for (const client of clients) stack.defer(() => client.close());
    for (const client of clients) await send(client, PROBE);
    const owned = stack.move();
    return {
      run: (forMs) => refresh(clients, forMs),
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  },
};

async function refresh(clients: readonly Client[], forMs: number): Promise<LoadOutcome> {
  const latenciesMs: number[] = [];
  await pace({ everyMs: REFRESH_MS / clients.length, forMs }, async (index) => {
    const client = clients[index % clients.length];
    if (!client) throw new Error('Cannot refresh: there is no connection');
    const sentMs = performance.now();
    await send(client, ALL_PODS);
    latenciesMs.push(performance.now() - sentMs);
  });
  return { requests: latenciesMs.length, latenciesMs };
}
