import { expect } from 'chai';
import type { DebugResponse, RemediedReason } from '#lib/resource-metrics/debug/debug-response.ts';
import type { NodeDescription } from '#lib/resource-metrics/debug/describe-node.ts';
import type { DetailedPodDescription } from '#lib/resource-metrics/debug/describe-pods.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { type RunningServer, runServer } from '#spec/support/running-server.ts';
import { twoCycles } from '#spec/support/two-cycles.ts';
import { until } from '#spec/support/until.ts';

describe('debugEndpoints', () => {
  describe('in a cluster with every kind of problem', () => {
    let server: RunningServer;

    before(async () => {
      server = await runServer({
        nodes: 4,
        podsPerNode: 2,
        nodeOverrides: {
          'node-2': { faults: ['refuse'] },
          'node-3': { addresses: [] },
        },
        pods: [
          { name: 'lacking', node: 'node-1', containers: [{ name: 'app', unknown: ['memory'] }] },
          { name: 'pending', node: 'node-1', phase: 'Pending' },
          { name: 'on-failing', node: 'node-2' },
          { name: 'vanished', node: 'node-4', startedSecondsAgo: 600 },
        ],
      });
      const { machine } = server.cluster.node('node-4');
      machine.stop(server.cluster.store.get('pods', 'default', 'vanished')?.metadata.uid ?? '');
      await twoCycles(server, 2);
      server.cluster.addPod({ name: 'newcomer', node: 'node-1' });
      await until(server.clock, () => server.cluster.store.get('pods', 'default', 'newcomer') !== undefined);
    });

    after(() => server[Symbol.asyncDispose]());

    it('describes the last scrape and the cached objects of a responding node', async () => {
      const [node] = (await query<NodeDescription>(server, '/debug/nodes?name=node-1')).items;
      const { address } = server.cluster.node('node-1').plan;
      expect(node).to.deep.include({ name: 'node-1', served: true });
      expect(node?.usage).to.have.all.keys('cpu', 'memory', 'timestamp', 'window');
      expect(node?.scrape).to.deep.include({
        address: `${address}:${server.cluster.kubeletPort}`,
        endpoint: '/stats/summary?only_cpu_and_memory=true',
        ignored: [],
      });
      expect(node?.scrape).to.have.property('succeededAt', node?.scrape?.startedAt);
      expect(node?.cached).to.deep.equal({ pods: 3, containers: 2, readings: 6, stale: false });
      expect(node?.trend).to.have.length(2);
    });

    it('lists failing nodes first, with cause and start of the failure', async () => {
      const { total, served, items } = await query<NodeDescription>(server, '/debug/nodes');
      expect({ total, served }).to.deep.equal({ total: 4, served: 2 });
      expect(items.map(({ name }) => name)).to.deep.equal(['node-2', 'node-3', 'node-1', 'node-4']);
      const [refusing, homeless] = items;
      expect(refusing?.reason?.code).to.equal('NodeFailing');
      expect(refusing?.reason?.message).to.match(
        /^Cannot scrape node "node-2" at .*: connection refused \(since 20.*Z\)$/,
      );
      expect(refusing?.reason?.remedy).to.equal(
        'Run `metrics-server doctor --node=node-2`, which prints the remedy.',
      );
      expect(refusing?.scrape?.failure).to.include({ count: 2 });
      expect(homeless?.reason?.message).to.include('no address matched types');
    });

    it('explains why a pod is not served, looking up its node if necessary', async () => {
      expect(await reasonOf(server, 'lacking')).to.deep.equal({
        code: 'IncompletePod',
        message:
          'according to node "node-1", container "app" has no working set, so a sum would be too small',
        remedy:
          'If this persists for minutes, restart the container runtime on the node (`systemctl restart containerd`).',
      });
      expect(await reasonOf(server, 'pending')).to.deep.equal({
        code: 'NotRunning',
        message: 'the pod is on node "node-1", and its phase is Pending',
        remedy: 'Run `kubectl describe pod` to find the cause. Pods that do not run have no metrics.',
      });
      expect(await reasonOf(server, 'on-failing')).to.have.property('code', 'NodeFailing');
      expect(await reasonOf(server, 'newcomer')).to.have.property('code', 'NotReportedYet');
      expect(await reasonOf(server, 'vanished')).to.deep.equal({
        code: 'NotReported',
        message: 'the pod runs on node "node-4", whose kubelet responds but does not report the pod',
        remedy:
          'If the node of the pod cannot be scraped, fix this first. If the kubelet responds, restart the kubelet (`systemctl restart kubelet`).',
      });
      expect(await reasonOf(server, 'no-such-pod')).to.have.property('code', 'NoSuchPod');
    });

    it('serves or explains each node and each running pod', async () => {
      for (const [path, resource] of [
        ['/debug/nodes', 'nodes'],
        ['/debug/pods', 'pods'],
      ] as const) {
        const listed = await query<NodeDescription>(server, path);
        const api = JSON.parse((await server.get(`/apis/metrics.k8s.io/v1beta1/${resource}`)).body);
        const keyOf = ({ namespace = '', name }: { namespace?: string; name: string }) =>
          `${namespace}/${name}`;
        const served = new Set(
          api.items.map(({ metadata }: { metadata: { name: string } }) => keyOf(metadata)),
        );
        for (const item of listed.items) {
          expect(item.served, item.name).to.equal(served.has(keyOf(item)));
          expect(item.reason === undefined, item.name).to.equal(item.served);
        }
        const running = server.cluster.store
          .list(resource)
          .items.filter(({ status }) => (status as { phase?: string }).phase !== 'Pending');
        expect(listed.items.map(keyOf)).to.include.members(running.map(({ metadata }) => keyOf(metadata)));
      }
    });

    it('counts failing nodes that an unreported pod may run on', async () => {
      const { items } = await query<DetailedPodDescription>(server, '/debug/pods?namespace=default');
      const unreported = items.find(({ name }) => name === 'on-failing');
      expect(unreported?.reason?.message).to.equal(
        'none of the kubelets that responded reports this pod; it may run on one of the 2 nodes that cannot be scraped. To find its node, query with both namespace and name',
      );
    });

    it('lists pods that are not served first, then by namespace and name', async () => {
      const { items, served, total } = await query<DetailedPodDescription>(server, '/debug/pods');
      const keys = items.map((pod) => `${pod.served ? 1 : 0}/${pod.namespace}/${pod.name}`);
      expect(keys).to.deep.equal(keys.toSorted());
      expect(items.filter((pod) => pod.served)).to.have.lengthOf(served);
      const inSystem = await query<DetailedPodDescription>(server, '/debug/pods?namespace=no-such');
      expect([inSystem.total, total]).to.deep.equal([0, items.length]);
    });

    it('limits the items, but counts all', async () => {
      const { total, items } = await query(server, '/debug/pods?limit=1');
      expect(total).to.be.greaterThan(1);
      expect(items).to.have.length(1);
      for (const all of ['0', '-1'])
        expect((await query(server, `/debug/pods?limit=${all}`)).items).to.have.length(total);
    });

    it('responds with 403 without permission, and with 400 to a name without a namespace', async () => {
      const token = server.cluster.autoscalerToken;
      const url = `${server.origin}/debug/nodes`;
      expect((await requestHttps(url, { token, rejectUnauthorized: false })).status).to.equal(403);
      expect((await server.get('/debug/pods?name=vanished')).status).to.equal(400);
      expect((await server.get('/debug/nodes?name=node-1&limit=many')).status).to.equal(400);
    });

    it('responds with 400 to an unknown parameter, and names the known ones', async () => {
      for (const [path, takes] of [
        ['/debug/pods?namespce=default', 'name, namespace, limit'],
        ['/debug/nodes?namespce=default', 'name, limit'],
      ] as const) {
        const { status, body } = await server.get(path);
        expect(status).to.equal(400);
        expect(String(body)).to.include(
          JSON.stringify(`unknown query parameter "namespce": supported: ${takes}`),
        );
      }
      expect((await server.get('/debug/nodes?pretty=true&timeout=10s')).status).to.equal(200);
    });
  });

  it('explains what a cluster waits for after one scrape', async () => {
    await using server = await runServer({ nodes: 1, podsPerNode: 2 });
    await server.clock.advance(400);
    await server.scraped(1);
    await server.clock.advance(1000);
    const { items, served } = await query<DetailedPodDescription>(server, '/debug/pods');
    expect(served).to.equal(0);
    expect(items).to.have.lengthOf(2);
    for (const { reason } of items) {
      expect(reason?.code).to.equal('WaitingForSecondReading');
      expect(reason?.message).to.match(
        /^container "main" waits for another reading: it has one reading, taken at .*Z; CPU usage requires two readings at least 10s apart$/,
      );
    }
  });
});

async function query<Item>(server: RunningServer, path: string): Promise<DebugResponse<Item>> {
  const { status, body } = await server.get(path);
  expect(status, body).to.equal(200);
  return JSON.parse(body);
}

async function reasonOf(server: RunningServer, name: string): Promise<RemediedReason | undefined> {
  const path = `/debug/pods?namespace=default&name=${name}`;
  const { items } = await query<DetailedPodDescription>(server, path);
  return items[0]?.reason;
}
