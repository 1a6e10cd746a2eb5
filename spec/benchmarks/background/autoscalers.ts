import { performance } from 'node:perf_hooks';
import { Client } from 'undici';
import { AUTOSCALER_USER } from '#simulator/access/default-grants.ts';
import { readFrontProxyCertificate } from '../credentials.ts';
import { PROBE, send } from '../load/send.ts';
import { LIST_BY_LABEL, MEDIA_TYPES } from '../scenarios.ts';
import { pathFor, type Target } from '../targets.ts';
import type { BackgroundLoad, LoadOutcome } from './background-load.ts';
import { pace } from './pace.ts';

const AUTOSCALERS = 500;
/** The controller's --horizontal-pod-autoscaler-sync-period. */
const SYNC_PERIOD_MS = 15_000;
/** The minimum that an API server keeps open. */
const CONNECTIONS = 2;
const EVERY_MS = SYNC_PERIOD_MS / AUTOSCALERS;

/**
 * Autoscalers that request the pods of one app each per sync period, evenly distributed over the period: in protobuf,
 * compressed, under their service account, in the form that the aggregator proxies.
 */
export const AUTOSCALER_LOAD: BackgroundLoad = {
  name: 'hpa',
  what: `${AUTOSCALERS} autoscalers, each every ${SYNC_PERIOD_MS / 1000} s`,
  async prepare({ system, targets }) {
    const connect = { ...(await readFrontProxyCertificate(system)), rejectUnauthorized: false };
    await using stack = new AsyncDisposableStack();
    const clients = Array.from(
      { length: CONNECTIONS },
      () => new Client(system.serverOrigin, { connect, allowH2: true }),
    );
    for (const client of clients) stack.defer(() => client.close());
    for (const client of clients) await send(client, { ...PROBE, headers: ON_BEHALF });
    const owned = stack.move();
    return {
      run: (forMs) => autoscale(clients, targets, forMs),
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  },
};

const ON_BEHALF = {
  'x-remote-user': AUTOSCALER_USER,
  'x-remote-group': 'system:authenticated',
};

async function autoscale(
  clients: readonly Client[],
  targets: readonly Target[],
  forMs: number,
): Promise<LoadOutcome> {
  const latenciesMs: number[] = [];
  await pace({ everyMs: EVERY_MS, forMs }, async (index) => {
    const target = targets[(index % AUTOSCALERS) % targets.length];
    const client = clients[index % clients.length];
    if (!target || !client) throw new Error('Cannot scale: there is no app, or no connection');
    const path = pathFor(LIST_BY_LABEL, target);
    const sentMs = performance.now();
    await send(client, { path, mediaType: MEDIA_TYPES.protobuf, gzip: true, headers: ON_BEHALF });
    latenciesMs.push(performance.now() - sentMs);
  });
  return { requests: latenciesMs.length, latenciesMs };
}
