import { setTimeout as sleep } from 'node:timers/promises';
import type { Kubectl } from '#spec/support/kubectl.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';

/** A server and a kubectl of its cluster. */
export interface PolledServer {
  readonly server: SpawnedProgram;
  /** Present if the cluster runs in its own process. */
  readonly simulator?: SpawnedProgram;
  readonly kubectl: Kubectl;
}

/** Number of nodes and pods that have metrics. */
export interface Served {
  readonly nodes: number;
  readonly pods: number;
}

/**
 * Waits until kubectl gets metrics of at least so many nodes and pods.
 *
 * @throws Error if `timeoutMs` pass before, the signal aborts, or a program ends.
 */
export async function untilServed(
  requested: PolledServer,
  expected: Served,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<void> {
  const { kubectl } = requested;
  const deadlineMs = Date.now() + timeoutMs;
  const ended = Promise.race(
    [requested.server, requested.simulator].flatMap((program) => (program ? [failAtEnd(program)] : [])),
  );
  ended.catch(() => {}); // one may end later, when nothing awaits it
  let complaint = '';
  while (Date.now() < deadlineMs) {
    const counts = Promise.all([countItems(kubectl, 'nodes'), countItems(kubectl, 'pods')]);
    const [nodes, pods] = await Promise.race([ended, counts]);
    if (typeof nodes === 'number' && typeof pods === 'number') {
      if (nodes >= expected.nodes && pods >= expected.pods) return;
      complaint = `${nodes} and ${pods} were`;
    } else {
      complaint = `kubectl said: ${typeof nodes === 'string' ? nodes : pods}`;
    }
    await Promise.race([ended, sleep(500, undefined, { signal })]);
  }
  throw new Error(
    `Metrics of ${expected.nodes} nodes and ${expected.pods} pods were not served in ${timeoutMs} ms; ${complaint}`,
  );
}

async function failAtEnd(program: SpawnedProgram): Promise<never> {
  await program.ended;
  const lastWords = program.output.slice(-20).join('\n');
  throw new Error(`Cannot wait for metrics: ${program.name} has ended; its last words were:\n${lastWords}`);
}

/** Number of items in a list of metrics, or kubectl's error message. */
async function countItems(kubectl: Kubectl, resource: 'nodes' | 'pods'): Promise<number | string> {
  const list = ['get', '--raw', `/apis/metrics.k8s.io/v1beta1/${resource}`];
  const { stdout, stderr, exitStatus } = await kubectl.run(list);
  return exitStatus === 0 ? (JSON.parse(stdout) as { items: unknown[] }).items.length : stderr.trim();
}
