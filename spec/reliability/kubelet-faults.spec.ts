import { expect } from 'chai';
import { eventually } from '#spec/support/eventually.ts';
import { countResources, isWithin, maxOf, type OpenResources } from '#spec/support/open-resources.ts';
import { type RunningServer, runServer } from '#spec/support/running-server.ts';
import { ScrapeCycles } from '#spec/support/scrape-cycles.ts';
import { heal, KUBELET_FAULT_CASES, restart } from './kubelet-fault-cases.ts';

const PODS = '/apis/metrics.k8s.io/v1beta1/pods';
const NODE_METRICS = '/apis/metrics.k8s.io/v1beta1/nodes';
const NODES = 12;
const PODS_PER_NODE = 2;

describe('a kubelet that fails', () => {
  let server: RunningServer;
  let cycles: ScrapeCycles;
  let retained: OpenResources;

  /** The failing node; another one in each spec, since logs are limited per node and the clock hardly advances. */
  let faulty = '';
  let count = 0;

  beforeEach(async () => {
    faulty = `node-${1 + (count++ % NODES)}`;
    await heal(server.cluster, faulty);
    await cycles.next(NODES);
    server.logger.lines.length = 0;
  });

  before(async () => {
    server = await runServer({ nodes: NODES, podsPerNode: PODS_PER_NODE }, [
      '--metric-resolution=15s',
      '--kubelet-use-node-status-port',
    ]);
    cycles = await ScrapeCycles.of(server, NODES);
    const moments: OpenResources[] = [];
    for (let cycle = 0; cycle < 4; cycle++) {
      await cycles.next(NODES);
      moments.push(await countResources(server.clock));
    }
    retained = maxOf(moments);
  });
  after(() => server[Symbol.asyncDispose]());

  /** Number of pods whose served values are from `sinceMs` or later. */
  async function freshPods(sinceMs: number): Promise<number> {
    const { items } = JSON.parse((await server.get(PODS)).body) as { items: { timestamp: string }[] };
    // The summary's timestamps are whole seconds.
    return items.filter(({ timestamp }) => Date.parse(timestamp) >= Math.floor(sinceMs / 1000) * 1000).length;
  }

  /** Runs one cycle in which every kubelet responds, and asserts that the state is normal again. */
  async function expectHealth(): Promise<void> {
    await heal(server.cluster, faulty);
    const beganAtMs = await cycles.next(NODES);
    expect(await freshPods(beganAtMs)).to.equal(NODES * PODS_PER_NODE);
    await eventually(async () => isWithin(await countResources(server.clock), retained));
  }

  const message = () => server.logger.lines.filter(({ level }) => level !== 'info');

  for (const { name, reason, takesTime, inject } of KUBELET_FAULT_CASES) {
    it(`affects only its own node and logs one line when it ${name}`, async () => {
      await inject(server.cluster, faulty);
      for (let cycle = 0; cycle < 2; cycle++) {
        const { failed } = await cycles.counts();
        const beganAtMs = await cycles.next(NODES - 1);
        expect(await freshPods(beganAtMs)).to.equal((NODES - 1) * PODS_PER_NODE);
        await cycles.failed(failed + 1, { takesTime });
      }
      expect(message()).to.have.length(1);
      expect(message()[0]?.message, message()[0]?.message).to.match(reason);
      expect(message()[0]?.fields.node).to.equal(faulty);
      await expectHealth();
    });
  }

  it('is scraped over its open connection after its certificate expires, until the next handshake', async () => {
    server.cluster.setCertificate(faulty, 'expired');
    await cycles.next(NODES);
    expect(message()).to.have.length(0);
    await restart(server.cluster, faulty);
    const { failed } = await cycles.counts();
    await cycles.next(NODES - 1);
    await cycles.failed(failed + 1, { takesTime: false });
    expect(message()[0]?.message).to.match(/certificate has expired/);
    await expectHealth();
  });

  for (const [what, to] of [
    ['address', () => ({ address: '127.9.0.2' })],
    ['port', () => ({ port: server.cluster.kubeletPort + 1 })],
  ] as const) {
    it(`is found at its new ${what} in the next cycle`, async () => {
      const { failed } = await cycles.counts();
      await server.cluster.moveNode(faulty, to());
      await untilDiscovered();
      await expectHealth();
      expect((await cycles.counts()).failed).to.equal(failed);
      expect(message()).to.have.length(0);
    });
  }

  /** Waits until the server has received every change of nodes that the API server has sent so far. */
  async function untilDiscovered(): Promise<void> {
    const { store } = server.cluster;
    const node = store.get('nodes', undefined, faulty);
    if (!node) throw new Error('the node is gone');
    const moved = String(store.resourceVersion);
    store.update('nodes', {
      ...node,
      metadata: { ...node.metadata, labels: { ...node.metadata.labels, moved } },
    });
    await eventually(
      async () => (await server.names(`${NODE_METRICS}?labelSelector=moved%3D${moved}`)).length === 1,
    );
  }
});
