// Takes part in leader election and prints repeatedly while it leads: node candidate-program.ts KUBECONFIG IDENTITY
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LeaderElection } from '#lib/control/leader-election.ts';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { systemClock as clock } from '#lib/time/clock.ts';
import { RecordingLogger } from './recording-logger.ts';

const [kubeconfig = '', identity = ''] = process.argv.slice(2);
const logger = new RecordingLogger();
const access = await loadClusterAccess({ kubeconfig, clock, logger });
const api = new ApiClient({ access, clock, userAgent: identity });
const election = new LeaderElection({
  ...{ api, clock, logger, identity },
  lease: { namespace: 'kube-system', name: 'spec' },
  ...{ leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 250 },
});
const ending = new AbortController();
process.once('SIGTERM', () => ending.abort(new Error('SIGTERM')));
let term = 0;

await election.run(async (signal) => {
  term++;
  while (!signal.aborted) {
    const nowNs = process.hrtime.bigint(); // the same clock in all processes; read before the check below
    try {
      election.assertLeader();
    } catch {
      break;
    }
    writeSync(1, `acts ${term} ${nowNs}\n`);
    await sleep(20);
  }
}, ending.signal);
await api[Symbol.asyncDispose]();
