import { performance } from 'node:perf_hooks';
import { Client } from 'undici';
import { AUTOSCALER_USER } from '#lib/simulator/access/default-grants.ts';
import { readFrontProxyCertificate } from '../credentials.ts';
import { ask } from '../load/ask.ts';
import { LIST_BY_LABEL, MEDIA_TYPES } from '../scenarios.ts';
import { pathFor } from '../targets.ts';
import { pace } from './pace.ts';
import type { StandingLoad } from './standing-load.ts';

const AUTOSCALERS = 500;
/** The controller's --horizontal-pod-autoscaler-sync-period. */
const SYNC_PERIOD_MS = 15_000;
/** As few as an API server keeps. */
const CONNECTIONS = 2;
const EVERY_MS = SYNC_PERIOD_MS / AUTOSCALERS;

/**
 * Autoscalers that each ask for the pods of an app once in a sync period, spread evenly over it: in protobuf,
 * compressed, as their service account, in the way that it comes through the aggregator.
 */
export const AUTOSCALER_LOAD: StandingLoad = {
  name: 'hpa',
  what: `${AUTOSCALERS} autoscalers, each every ${SYNC_PERIOD_MS / 1000} s`,
  async run({ system, targets }, forMs) {
    const connect = { ...(await readFrontProxyCertificate(system)), rejectUnauthorized: false };
    const clients = Array.from(
      { length: CONNECTIONS },
      () => new Client(system.serverOrigin, { connect, allowH2: true }),
    );
    await using stack = new AsyncDisposableStack();
    for (const client of clients) stack.defer(() => client.close());
    const latenciesMs: number[] = [];
    await pace({ everyMs: EVERY_MS, forMs }, async (turn) => {
      const target = targets[(turn % AUTOSCALERS) % targets.length];
      const client = clients[turn % CONNECTIONS];
      if (!target || !client) throw new Error('Cannot scale: there is no app');
      const sentMs = performance.now();
      await ask(client, {
        path: pathFor(LIST_BY_LABEL, target),
        mediaType: MEDIA_TYPES.protobuf,
        gzip: true,
        headers: ON_BEHALF,
      });
      latenciesMs.push(performance.now() - sentMs);
    });
    return { requests: latenciesMs.length, latenciesMs };
  },
};

const ON_BEHALF = {
  'x-remote-user': AUTOSCALER_USER,
  'x-remote-group': 'system:authenticated',
};
