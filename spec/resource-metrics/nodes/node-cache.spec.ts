import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { NodeCache, reduceNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import { startListingServer } from '#spec/support/listing-server.ts';

describe('NodeCache', () => {
  const list = readFileSync(new URL('../../fixtures/apiserver/nodes.body', import.meta.url), 'utf8');

  it('watches the nodes that match its selector', async () => {
    await using server = await startListingServer(list);
    await using nodes = new NodeCache({ ...server, selector: 'kubernetes.io/os=linux' });
    expect(nodes.isSynced).to.equal(false);
    nodes.start();
    await nodes.synced();
    expect(nodes.isSynced).to.equal(true);
    expect(nodes.get('lab-node')).to.include({ name: 'lab-node', kubeletPort: 10250 });
    expect([...nodes.values()]).to.deep.equal([nodes.get('lab-node')]);
    const [request] = server.requests;
    expect(request?.url.pathname).to.equal('/api/v1/nodes');
    expect(request?.url.searchParams.get('labelSelector')).to.equal('kubernetes.io/os=linux');
  });

  it('watches all nodes without a selector', async () => {
    await using server = await startListingServer(list);
    await using nodes = new NodeCache({ ...server, selector: '' });
    nodes.start();
    await nodes.synced();
    expect(server.requests[0]?.url.searchParams.has('labelSelector')).to.equal(false);
  });
});

describe('reduceNode', () => {
  it('reduces a recorded node', () => {
    const list = JSON.parse(
      readFileSync(new URL('../../fixtures/apiserver/nodes.body', import.meta.url), 'utf8'),
    );
    expect(reduceNode(list.items[0])).to.deep.equal({
      name: 'lab-node',
      labels: {
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': 'lab-node',
        'kubernetes.io/os': 'linux',
      },
      addresses: [
        { type: 'InternalIP', address: '10.99.0.1' },
        { type: 'Hostname', address: 'lab-node' },
      ],
      kubeletPort: 10250,
      resourceMetricsPath: undefined,
      allocatableMillicores: 2000,
      allocatableMemoryKib: 24_581_692,
    });
  });

  it('caches no labels beyond their bound, and says so', () => {
    const reduced = (bytes: number) =>
      reduceNode({ metadata: { name: 'a', labels: { a: 'v'.repeat(bytes - 33) } } });
    expect(reduced(16_384)).to.not.have.property('omitted');
    expect(reduced(16_384)?.labels.a).to.have.lengthOf(16_351);
    expect(reduced(16_385)).to.deep.include({
      labels: {},
      omitted: 'labels of more than 16 KiB',
    });
  });

  it('reads no path of resource metrics that is too long', () => {
    const path = (length: number) => {
      const annotations = { 'metrics.k8s.io/resource-metrics-path': `/${'x'.repeat(length - 1)}` };
      return reduceNode({ metadata: { name: 'a', annotations } })?.resourceMetricsPath;
    };
    expect(path(1024)).to.have.lengthOf(1024);
    expect(path(1025)).to.equal(undefined);
  });

  it('reduces a node without labels, status and annotations', () => {
    const silent = {
      name: 'a',
      labels: {},
      addresses: [],
      kubeletPort: undefined,
      resourceMetricsPath: undefined,
    };
    expect(reduceNode({ metadata: { name: 'a' } })).to.deep.equal(silent);
    const empty = { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, addresses: null };
    expect(reduceNode({ metadata: { name: 'a', labels: null }, status: empty })).to.deep.equal(silent);
  });

  it('reads what pods may use of CPU and memory, and no other text', () => {
    const reduced = (cpu: unknown, memory: unknown) => {
      const node = reduceNode({ metadata: { name: 'a' }, status: { allocatable: { cpu, memory } } });
      return [node?.allocatableMillicores, node?.allocatableMemoryKib];
    };
    expect(reduced('3920m', '16374656Ki')).to.deep.equal([3920, 16_374_656]);
    expect(reduced('4', '2Gi')).to.deep.equal([4000, 2 * 1024 * 1024]);
    for (const bad of [4, '', '0', '-1', 'four', '9'.repeat(41), null])
      expect(reduced(bad, bad), String(bad)).to.deep.equal([undefined, undefined]);
  });

  it('reads the path in the annotation, if it is one', () => {
    const annotated = (path: unknown) =>
      reduceNode({ metadata: { name: 'a', annotations: { 'metrics.k8s.io/resource-metrics-path': path } } });
    expect(annotated('/virtual/metrics')?.resourceMetricsPath).to.equal('/virtual/metrics');
    for (const path of ['', 'https://elsewhere.test/', 7]) {
      expect(annotated(path)?.resourceMetricsPath).to.equal(undefined);
    }
  });

  it('limits addresses to 32 per node and eight per type, retaining the first of each type', () => {
    const ofType = (type: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({ type, address: `${type}-${index}` }));
    const reduced = (...addresses: { readonly type: string; readonly address: string }[]) =>
      reduceNode({ metadata: { name: 'a' }, status: { addresses } })?.addresses.map(({ address }) => address);
    const long = { type: 'InternalIP', address: 'a'.repeat(254) };
    const thousands = reduced(long, ...ofType('InternalIP', 5_000), ...ofType('Hostname', 1));
    expect(thousands).to.have.length(9);
    expect(thousands?.[0]).to.equal('InternalIP-0');
    expect(thousands?.at(-1)).to.equal('Hostname-0');
    const types = Array.from({ length: 5_000 }, (_, index) => ofType(`type-${index}`, 1)).flat();
    expect(reduced(...types)).to.have.length(32);
  });

  it('ignores malformed parts', () => {
    const node = {
      metadata: { name: 'a', labels: { good: 'x', bad: 7 } },
      status: { addresses: [{ type: 'InternalIP' }, 'x', { type: 'Hostname', address: 'a' }] },
    };
    expect(reduceNode(node)).to.deep.include({
      labels: { good: 'x' },
      addresses: [{ type: 'Hostname', address: 'a' }],
    });
    for (const object of [undefined, null, 'x', {}, { metadata: {} }])
      expect(reduceNode(object)).to.equal(undefined);
  });

  it('treats a label named __proto__ as data', () => {
    const node = reduceNode(JSON.parse('{"metadata":{"name":"a","labels":{"__proto__":"x"}}}'));
    expect(Object.entries(node?.labels ?? {})).to.deep.equal([['__proto__', 'x']]);
  });
});
