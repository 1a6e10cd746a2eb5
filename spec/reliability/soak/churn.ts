import { setTimeout as sleep } from 'node:timers/promises';
import { endWatches } from '#lib/simulator/api-server/faults/end-watches.ts';
import type { SimulatedCluster } from '#lib/simulator/cluster.ts';
import { seededFraction } from '#lib/simulator/seeded.ts';
import { heal, KUBELET_FAULT_CASES } from '../kubelet-fault-cases.ts';

const TURN_MS = 1_000;
const FAULT_LASTS_TURNS = 20;
const API_FAULT_EVERY_TURNS = 45;
/** Of the nodes, at most this part has a fault at a time. */
const FAULTY_PART = 1 / 3;

/**
 * Each second lets pods come, go and crash and a kubelet fail or recover; now and then nodes come and go, and the
 * API server restarts or ends its watches. The same seed does the same.
 */
export async function churn(cluster: SimulatedCluster, seed: number, signal: AbortSignal): Promise<void> {
  const faults = new Map<string, number>();
  for (let turn = 0; !signal.aborted; turn++) {
    const dice = (what: string) => seededFraction(seed, what, turn);
    const pick = <T>(what: string, from: readonly T[]) => from[Math.floor(dice(what) * from.length)];
    const nodes = [...cluster.nodes()].map(({ plan }) => plan.name);
    const pods = [...cluster.truth.pods()].map(({ pod }) => pod);

    const gone = pick('delete', pods);
    if (gone && dice('deletes') < 0.5) cluster.deletePod(gone.namespace, gone.name);
    const home = pick('node', nodes);
    if (home !== undefined && dice('adds') < 0.5) cluster.addPod({ name: `churn-${turn}`, node: home });
    const crashing = pick('crash', pods);
    const [container] = crashing?.containers ?? [];
    if (crashing && crashing !== gone && container && dice('crashes') < 0.2) {
      const { namespace, name: pod } = crashing;
      cluster.restartContainer({ namespace, pod, container: container.name });
    }

    const failing = pick('fault', nodes);
    const fault = KUBELET_FAULT_CASES[turn % KUBELET_FAULT_CASES.length];
    if (failing !== undefined && fault && !faults.has(failing) && faults.size < nodes.length * FAULTY_PART) {
      faults.set(failing, turn + FAULT_LASTS_TURNS);
      await fault.inject(cluster, failing);
    }
    for (const [name, until] of faults) {
      if (until > turn || !nodes.includes(name)) continue;
      faults.delete(name);
      await heal(cluster, name);
    }

    if (turn % API_FAULT_EVERY_TURNS === API_FAULT_EVERY_TURNS - 1) {
      await cluster.apiServer.stop();
      await cluster.apiServer.start();
      cluster.apiServer.setFaults(...(dice('watches') < 0.5 ? [endWatches(5_000)] : []));
      const healthy = nodes.filter((name) => !faults.has(name));
      const leaving = pick('leave', healthy);
      if (leaving !== undefined) await cluster.removeNode(leaving);
      await cluster.addNode();
    }
    await sleep(TURN_MS, undefined, { signal }).catch(() => {}); // over
  }
}
