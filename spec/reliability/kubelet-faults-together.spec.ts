import { expect } from 'chai';
import { eventually } from '#spec/support/eventually.ts';
import { countResources, isWithin, MemoryPeak, memoryInUse } from '#spec/support/open-resources.ts';
import { runServer } from '#spec/support/running-server.ts';
import { ScrapeCycles } from '#spec/support/scrape-cycles.ts';
import { heal, KUBELET_FAULT_CASES } from './kubelet-fault-cases.ts';

const PODS = '/apis/metrics.k8s.io/v1beta1/pods';
const PODS_PER_NODE = 2;
const MIB = 1024 * 1024;

const NODES = 300;
/** One node in three has a fault, and each fault occurs on three or four nodes. */
const FAULTS = Array.from({ length: NODES / 3 }, (_, index) => {
  const fault = KUBELET_FAULT_CASES[index % KUBELET_FAULT_CASES.length];
  if (!fault) throw new Error('there are no faults');
  return { nodeName: `node-${3 * index + 1}`, fault };
});
const FAULTY = FAULTS.length;
const SLOW = FAULTS.filter(({ fault }) => fault.takesTime).length;
const HEALTHY = NODES - FAULTY;

describe('a third of 300 kubelets, failing in every way at once', () => {
  it('delays no other node, and leaves nothing behind', async () => {
    await using server = await runServer({ nodes: NODES, podsPerNode: PODS_PER_NODE }, [
      '--metric-resolution=15s',
    ]);
    const cycles = await ScrapeCycles.of(server, NODES);
    for (let cycle = 0; cycle < 3; cycle++) await cycles.next(NODES);
    const retained = await countResources(server.clock);
    const memoryBefore = await memoryInUse();

    await Promise.all(FAULTS.map(({ fault, nodeName }) => fault.inject(server.cluster, nodeName)));
    using peak = new MemoryPeak();
    const externalBefore = peak.bytes;
    for (let cycle = 0; cycle < 3; cycle++) {
      const { failed } = await cycles.counts();
      const beganAtMs = await cycles.next(HEALTHY);
      const fresh = (await servedPods()).filter(({ timestamp }) => timestamp >= beganAtMs);
      expect(fresh).to.have.length(HEALTHY * PODS_PER_NODE);
      await cycles.failed(failed + FAULTY - SLOW, { takesTime: false });
      await cycles.failed(failed + FAULTY, { takesTime: true });
    }
    expect(await servedPods()).to.have.length(HEALTHY * PODS_PER_NODE);
    const complaints = server.logger.lines.filter(({ level }) => level !== 'info');
    expect(new Set(complaints.map(({ fields }) => fields.node)).size).to.equal(FAULTY);
    expect(complaints).to.have.length(FAULTY);
    expect(peak.bytes - externalBefore).to.be.below(192 * MIB);

    await Promise.all(FAULTS.map(({ nodeName }) => heal(server.cluster, nodeName)));
    for (let cycle = 0; cycle < 2; cycle++) await cycles.next(NODES);
    expect(await servedPods()).to.have.length(NODES * PODS_PER_NODE);
    await eventually(async () => isWithin(await countResources(server.clock), retained));
    expect((await memoryInUse()) - memoryBefore).to.be.below(16 * MIB);

    /** All served pods, with the summary's timestamps in whole seconds. */
    async function servedPods(): Promise<readonly { readonly timestamp: number }[]> {
      const { items } = JSON.parse((await server.get(PODS)).body) as { items: { timestamp: string }[] };
      return items.map(({ timestamp }) => ({ timestamp: Date.parse(timestamp) + 999 }));
    }
  }).timeout(300_000);
});
