import { setTimeout as sleep } from 'node:timers/promises';
import type { Kubectl } from '#spec/support/kubectl.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';

/** A server and somebody who can ask it through its cluster. */
export interface AskedServer {
  readonly server: SpawnedProgram;
  /** Where the cluster is a process of its own. */
  readonly simulator?: SpawnedProgram;
  readonly kubectl: Kubectl;
}

/** How many nodes and pods have metrics. */
export interface Served {
  readonly nodes: number;
  readonly pods: number;
}

/**
 * Waits until metrics of at least so many nodes and pods are served, as kubectl sees it.
 *
 * @throws Error if `timeoutMs` pass before, the signal aborts, or a program ends.
 */
export async function untilServed(
  asked: AskedServer,
  wanted: Served,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<void> {
  const { kubectl } = asked;
  const deadlineMs = Date.now() + timeoutMs;
  const ended = Promise.race(
    [asked.server, asked.simulator].flatMap((program) => (program ? [failAtEnd(program)] : [])),
  );
  ended.catch(() => {}); // one may end later, when nobody waits
  let complaint = '';
  while (Date.now() < deadlineMs) {
    const counts = Promise.all([countItems(kubectl, 'nodes'), countItems(kubectl, 'pods')]);
    const [nodes, pods] = await Promise.race([ended, counts]);
    if (typeof nodes === 'number' && typeof pods === 'number') {
      if (nodes >= wanted.nodes && pods >= wanted.pods) return;
      complaint = `${nodes} and ${pods} were`;
    } else {
      complaint = `kubectl said: ${typeof nodes === 'string' ? nodes : pods}`;
    }
    await Promise.race([ended, sleep(500, undefined, { signal })]);
  }
  throw new Error(
    `Metrics of ${wanted.nodes} nodes and ${wanted.pods} pods were not served in ${timeoutMs} ms; ${complaint}`,
  );
}

async function failAtEnd(program: SpawnedProgram): Promise<never> {
  await program.ended;
  const lastWords = program.output.slice(-20).join('\n');
  throw new Error(`Cannot wait for metrics: ${program.name} has ended; its last words were:\n${lastWords}`);
}

/** How many items a list of metrics has, or what kubectl complained of. */
async function countItems(kubectl: Kubectl, resource: 'nodes' | 'pods'): Promise<number | string> {
  const list = ['get', '--raw', `/apis/metrics.k8s.io/v1beta1/${resource}`];
  const { stdout, stderr, exitStatus } = await kubectl.run(list);
  return exitStatus === 0 ? (JSON.parse(stdout) as { items: unknown[] }).items.length : stderr.trim();
}
