import { expect } from 'chai';
import type { HealthEndpoint } from '#lib/apiserver/health.ts';
import { type Checked, healthChecks } from '#lib/resource-metrics/metrics-server.ts';
import type { Fault } from '#simulator/kubelet/faults.ts';
import { eventually } from '#spec/support/eventually.ts';
import { runServer } from '#spec/support/running-server.ts';
import { ScrapeCycles } from '#spec/support/scrape-cycles.ts';
import { twoCycles } from '#spec/support/two-cycles.ts';

const NODES = '/apis/metrics.k8s.io/v1beta1/nodes';
const PODS = '/apis/metrics.k8s.io/v1beta1/pods';

/** Above the jitter of these small clusters, and far below any timeout. */
const JITTER_MS = 400;
const TIMEOUT_MS = 1000;

describe('startMetricsServer', () => {
  it('serves discovery at once, and is live but not ready', async () => {
    await using server = await runServer({ nodes: 1, podsPerNode: 1 });
    expect((await server.get('/apis/metrics.k8s.io/v1beta1')).status).to.equal(200);
    expect((await server.get('/livez')).status).to.equal(200);
    expect((await server.get('/readyz')).status).to.equal(500);
  });

  it('serves nodes after the first cycle, and pods and readiness after the second, 12 s later', async () => {
    await using server = await runServer({ nodes: 3, podsPerNode: 4 });
    await server.clock.advance(JITTER_MS);
    await server.scraped(3);
    await server.clock.advance(TIMEOUT_MS);
    expect(await server.names(PODS)).to.deep.equal([]);
    await server.clock.advance(12_000 - JITTER_MS - TIMEOUT_MS);
    await server.clock.advance(JITTER_MS);
    await server.scraped(6);
    await server.clock.advance(TIMEOUT_MS);
    expect(await server.names(NODES)).to.deep.equal(['node-1', 'node-2', 'node-3']);
    expect(await server.names(PODS)).to.have.length(12);
    expect((await server.get('/readyz')).status).to.equal(200);
  });

  it('verifies a kubelet by its node’s name, unless disabled', async () => {
    const scenario = { nodes: 1, podsPerNode: 1, certificate: 'name-only' } as const;
    const flags = ['--kubelet-preferred-address-types=InternalIP'];
    await using server = await runServer(scenario, flags);
    await server.clock.advance(JITTER_MS);
    await server.scraped(1);
    await using strict = await runServer(scenario, [...flags, '--kubelet-verify-node-name=false']);
    await strict.clock.advance(JITTER_MS);
    await eventually(() =>
      strict.logger.lines.some(({ message }) => message.includes('is valid for node-1, not for ')),
    );
  });

  it('warns once that kubelets are not verified', async () => {
    await using server = await runServer({ nodes: 2, podsPerNode: 1, certificate: 'self-signed' }, [
      '--kubelet-certificate-authority=',
      '--kubelet-insecure-tls',
    ]);
    await server.clock.advance(JITTER_MS);
    await server.scraped(2);
    const warnings = server.logger.lines.filter(({ message }) =>
      message.startsWith('Kubelet TLS verification is disabled'),
    );
    expect(warnings.map(({ level }) => level)).to.deep.equal(['warning']);
  });

  it('serves the actual usage of the cluster', async () => {
    await using server = await runServer({ nodes: 1, podsPerNode: 3, containersPerPod: 2 });
    await twoCycles(server, 1);
    const { items } = JSON.parse((await server.get(PODS)).body);
    const toMs = server.clock.nowMs();
    for (const { metadata, containers } of items) {
      for (const { name, usage } of containers) {
        const path = { namespace: metadata.namespace, pod: metadata.name, container: name };
        const truth = server.cluster.truth.containerUsage(path, { fromMs: toMs - 10_000, toMs });
        expect(usage.memory).to.equal(`${truth.memoryBytes / 1024}Ki`);
        expect(nanocores(usage.cpu)).to.be.closeTo(truth.cpuNanocores, truth.cpuNanocores / 10);
      }
    }
  });

  it('reports the freshness of each object that it served', async () => {
    await using server = await runServer({ nodes: 2, podsPerNode: 2 });
    await twoCycles(server, 2);
    for (const path of [NODES, `${NODES}/node-1`, `${NODES}?fieldSelector=metadata.name%3Dnode-2`, PODS]) {
      await server.get(path);
    }
    const { body } = await server.get('/metrics');
    const series = 'metrics_server_api_metric_freshness_seconds';
    expect(body).to.match(new RegExp(`^${series}_count 8$`, 'm')); // 2 + 1 + 1 + 4
    expect(body).to.match(new RegExp(`^${series}_bucket\\{le="3\\.4614453660160014"\\} \\d$`, 'm'));
  });

  it('isolates three failing kubelets of fifty, with one log line each', async () => {
    await using server = await runServer({
      nodes: 50,
      podsPerNode: 1,
      nodeOverrides: {
        'node-7': { faults: ['refuse'] },
        'node-8': { faults: ['hang'] },
        'node-9': { faults: ['garbage'] },
      },
    });
    await twoCycles(server, 47);
    expect(await server.names(PODS)).to.have.length(47);
    expect(await server.names(NODES)).to.have.length(47);
    await server.clock.advance(12_000);
    const errors = server.logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
    const port = server.cluster.kubeletPort;
    expect(errors).to.have.length(3);
    expect(errors.find((each) => each.includes('node-7'))).to.equal(
      `Cannot scrape node "node-7" at 127.1.0.7:${port}: connection refused`,
    );
    expect(errors.find((each) => each.includes('node-8'))).to.match(/at 127\.1\.0\.8:\d+: no .* within/);
    expect(errors.find((each) => each.includes('node-9'))).to.match(/at 127\.1\.0\.9:\d+: .*JSON/);
  });

  it('serves a node through one failed scrape with its original timestamp, but not through two', async () => {
    await using server = await runServer({ nodes: 2, podsPerNode: 1 }, ['--metric-resolution=15s']);
    const cycles = await ScrapeCycles.of(server, 2);
    const node = `${NODES}/node-1`;
    await cycles.next(2);
    await cycles.next(2);
    const { timestamp } = JSON.parse((await server.get(node)).body);
    await server.cluster.setFault('node-1', 'refuse');
    await cycles.next(1);
    await cycles.failed(1, { takesTime: false });
    expect(JSON.parse((await server.get(node)).body).timestamp).to.equal(timestamp);
    expect(await server.names(PODS)).to.have.length(2);
    const { body } = await server.get('/metrics');
    for (const type of ['node', 'pod'])
      expect(body).to.include(`metrics_server_storage_stale{type="${type}"} 1\n`);
    await cycles.next(1);
    await cycles.failed(2, { takesTime: false });
    expect(await server.names(NODES)).to.deep.equal(['node-2']);
    expect(await server.names(PODS)).to.have.length(1);
  });

  it("never serves one node's usage as that of another with the same address", async () => {
    const addresses = [{ type: 'InternalIP' as const, address: '127.1.0.1' }];
    await using server = await runServer({
      nodes: 2,
      podsPerNode: 1,
      nodeOverrides: { 'node-2': { addresses } },
    });
    await twoCycles(server, 1);
    expect(await server.names(NODES)).to.deep.equal(['node-1']);
    expect(await server.names(PODS)).to.have.length(1);
    expect(
      server.logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message),
    ).to.deep.equal([
      `Cannot scrape node "node-2" at 127.1.0.1:${server.cluster.kubeletPort}: the kubelet of node "node-1" responded`,
    ]);
    expect((await server.get('/metrics')).body).to.include(
      'metrics_server_kubelet_request_total{success="false"} 2\n',
    );
  });

  it('stops serving a node and its pods as soon as they are deleted', async () => {
    await using server = await runServer({ nodes: 2, podsPerNode: 1 });
    await twoCycles(server, 2);
    await server.cluster.removeNode('node-1');
    await eventually(async () => (await server.names(NODES)).length === 1);
    expect(await server.names(NODES)).to.deep.equal(['node-2']);
  });

  it('serves swap and ephemeral storage if enabled and reported', async () => {
    const flags = ['--extra-resources=swap,ephemeral-storage', '--kubelet-metrics-endpoint=auto'];
    for (const [kubeletAccess, storage] of [
      [['nodes/metrics', 'nodes/stats'], { 'ephemeral-storage': '8Ki' }],
      [['nodes/metrics'], {}],
    ] as const) {
      await using server = await runServer(
        { nodes: 1, podsPerNode: 1, nodeSwapGibibytes: 1, kubeletAccess: [...kubeletAccess] },
        flags,
      );
      await twoCycles(server, 1);
      const { items } = JSON.parse((await server.get(PODS)).body);
      const { cpu, memory, ...others } = items[0].containers[0].usage;
      expect([cpu, memory]).not.to.include(undefined);
      const swapBytes = server.cluster.node('node-1').machine.swapUsageBytes(server.clock.monotonicMs());
      const swap = `${swapBytes / 1024}Ki`;
      expect(swapBytes).to.be.above(0);
      expect(others).to.deep.equal({ ...storage, swap });
      const node = JSON.parse((await server.get(`${NODES}/node-1`)).body);
      expect(node.usage).to.deep.include({ swap });
    }
  });

  it('serves a virtual node with its own path and without timestamps', async () => {
    await using server = await runServer({
      nodes: 1,
      podsPerNode: 1,
      startedSecondsAgo: { from: 600, to: 600 },
    });
    const { store } = server.cluster;
    const node = store.get('nodes', undefined, 'node-1');
    if (!node) throw new Error('there is no node');
    const annotations = { 'metrics.k8s.io/resource-metrics-path': '/metrics/resource' };
    store.update('nodes', { ...node, metadata: { ...node.metadata, annotations } });
    const unstamp: Fault = {
      change: (response) => ({
        ...response,
        body: Buffer.from(response.body.toString().replaceAll(/ \d{13}$/gm, '')),
      }),
    };
    await server.cluster.node('node-1').kubelet.setFaults([unstamp]);
    await twoCycles(server, 1);
    const [pod] = JSON.parse((await server.get(PODS)).body).items;
    const { namespace, name } = pod.metadata;
    const [container] = pod.containers;
    const toMs = server.clock.nowMs();
    const path = { namespace, pod: name, container: container.name };
    const truth = server.cluster.truth.containerUsage(path, { fromMs: toMs - 10_000, toMs });
    expect(nanocores(container.usage.cpu)).to.be.closeTo(truth.cpuNanocores, truth.cpuNanocores / 10);
    expect(await server.names(NODES)).to.deep.equal(['node-1']);
  });

  it('serves a node that is not ready while its kubelet responds', async () => {
    await using server = await runServer({
      nodes: 2,
      podsPerNode: 1,
      nodeOverrides: { 'node-1': { isReady: false } },
    });
    await twoCycles(server, 2);
    expect(await server.names(NODES)).to.deep.equal(['node-1', 'node-2']);
  });

  it('leaves no timer', async () => {
    const server = await runServer({ nodes: 2, podsPerNode: 1 });
    await twoCycles(server, 2);
    await server[Symbol.asyncDispose]();
    expect(server.clock.sleeperCount).to.equal(0);
  });
});

/** Parses a CPU quantity of the API to nanocores. */
function nanocores(quantity: string): number {
  const [, digits, suffix = ''] = /^(\d+)([num]?)$/.exec(quantity) ?? [];
  return Number(digits) * ({ n: 1, u: 1e3, m: 1e6 }[suffix] ?? 1e9);
}

const HEALTHY: Checked = {
  sink: { isReady: true },
  manager: { isTimely: true },
  nodes: { isSynced: true },
  pods: { isSynced: true },
};

/** Returns the names of failing checks. */
function failing(endpoint: HealthEndpoint, changes: Partial<Checked> = {}): readonly string[] {
  const checks = healthChecks({ ...HEALTHY, ...changes }).filter(({ endpoints }) =>
    endpoints.includes(endpoint),
  );
  return checks.filter(({ check }) => check() !== undefined).map(({ name }) => name);
}

describe('healthChecks', () => {
  it('pass in a healthy server', () => {
    for (const endpoint of ['healthz', 'livez', 'readyz'] as const)
      expect(failing(endpoint)).to.deep.equal([]);
  });

  it('fail readiness without metrics, nodes or pods', () => {
    expect(failing('readyz', { sink: { isReady: false } })).to.deep.equal(['metric-storage-ready']);
    expect(failing('readyz', { nodes: { isSynced: false } })).to.deep.equal(['metric-informer-sync']);
    expect(failing('readyz', { pods: { isSynced: false } })).to.deep.equal(['metadata-informer-sync']);
  });

  it('pass liveness while cycles are on time, even without the API server', () => {
    expect(failing('livez', { manager: { isTimely: false } })).to.deep.equal(['metric-collection-timely']);
    const unreachable = { sink: { isReady: false }, nodes: { isSynced: false }, pods: { isSynced: false } };
    expect(failing('livez', unreachable)).to.deep.equal([]);
  });
});
