import { performance } from 'node:perf_hooks';
import type { Kubectl } from '#spec/support/kubectl.ts';
import type { BackgroundLoad, LoadOutcome } from './background-load.ts';
import { pace } from './pace.ts';

const EVERY_MS = 15_000;
const TIMEOUT_MS = 60_000;

/** A user who watches all pods with the real kubectl. Latency includes the start of kubectl. */
export const TOP_LOAD: BackgroundLoad = {
  name: 'top',
  what: `kubectl top pod -A, every ${EVERY_MS / 1000} s`,
  async prepare({ system: { kubectl } }) {
    return { run: (forMs) => watchTop(kubectl, forMs), [Symbol.asyncDispose]: async () => {} };
  },
};

async function watchTop(kubectl: Kubectl, forMs: number): Promise<LoadOutcome> {
  const latenciesMs: number[] = [];
  await pace({ everyMs: EVERY_MS, forMs }, async () => {
    const startMs = performance.now();
    const { exitStatus, stderr } = await kubectl.run(['top', 'pod', '-A'], TIMEOUT_MS);
    if (exitStatus !== 0) throw new Error(`Cannot watch pods: ${stderr.trim()}`);
    latenciesMs.push(performance.now() - startMs);
  });
  return { requests: latenciesMs.length, latenciesMs };
}
