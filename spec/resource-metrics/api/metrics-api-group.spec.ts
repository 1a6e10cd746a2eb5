import { expect } from 'chai';
import { metricsApiGroup } from '#lib/resource-metrics/api/metrics-api-group.ts';
import { type ApiResponse, jsonOf, requestHttp1 } from '#spec/support/api-request.ts';
import { FakeMetricsSource, liveNode, livePod, nodeUsage, podUsage } from '#spec/support/metrics-source.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

describe('metricsApiGroup', () => {
  it('serves the metrics of a node with its current labels', async () => {
    await using api = await startApi();
    api.source.serve(
      nodeUsage('a', { cpuNanocores: 205_361_551, memoryBytes: 496_860 * 1024, windowMs: 10_023 }),
    );
    api.source.liveNodes.set('a', liveNode('a', { labels: { zone: 'z', disk: 'ssd' } }));
    expect((await api.request('nodes/a')).body.toString()).to.equal(
      '{"kind":"NodeMetrics","apiVersion":"metrics.k8s.io/v1beta1","metadata":{"name":"a",' +
        '"creationTimestamp":"2026-11-21T08:50:30Z","labels":{"disk":"ssd","zone":"z"}},' +
        '"timestamp":"2026-11-21T08:50:25Z","window":"10.023s","usage":{"cpu":"205361551n","memory":"496860Ki"}}\n',
    );
    api.source.liveNodes.set('a', liveNode('a', { labels: { zone: 'y' } }));
    expect(jsonOf<Item>(await api.request('nodes/a')).metadata.labels).to.deep.equal({ zone: 'y' });
  });

  it('serves the metrics of a pod by container', async () => {
    await using api = await startApi();
    const containers = [
      { name: 'burn', cpuNanocores: 60_595_128, memoryBytes: 24_844 * 1024 },
      { name: 'side', cpuNanocores: 0, memoryBytes: 712 * 1024 },
    ];
    api.source.serve(podUsage('default', 'web', { containers }));
    expect((await api.request('namespaces/default/pods/web')).body.toString()).to.equal(
      '{"kind":"PodMetrics","apiVersion":"metrics.k8s.io/v1beta1","metadata":{"name":"web","namespace":"default",' +
        '"creationTimestamp":"2026-11-21T08:50:30Z"},"timestamp":"2026-11-21T08:50:25Z","window":"15s","containers":[' +
        '{"name":"burn","usage":{"cpu":"60595128n","memory":"24844Ki"}},' +
        '{"name":"side","usage":{"cpu":"0","memory":"712Ki"}}]}\n',
    );
  });

  it('lists by namespace and name, regardless of the order of the snapshot', async () => {
    await using api = await startApi();
    api.source.serve(podUsage('b', 'x'), podUsage('a', 'z'), podUsage('b', 'a'), podUsage('a', 'y'));
    expect(await api.names('pods')).to.deep.equal(['a/y', 'a/z', 'b/a', 'b/x']);
    expect(await api.names('namespaces/b/pods')).to.deep.equal(['b/a', 'b/x']);
    expect(await api.names('namespaces/none/pods')).to.deep.equal([]);
  });

  it('leaves out objects that are gone, and a pod that was replaced', async () => {
    await using api = await startApi();
    api.source.serve(
      nodeUsage('a'),
      nodeUsage('b'),
      podUsage('n', 'a'),
      podUsage('n', 'b'),
      podUsage('n', 'c'),
    );
    api.source.liveNodes.delete('a');
    api.source.livePods.delete('n/a');
    api.source.livePods.set('n/b', livePod('n', 'b', { uid: 'another' }));
    expect(await api.names('nodes')).to.deep.equal(['b']);
    expect(await api.names('pods')).to.deep.equal(['n/c']);
    expect((await api.request('namespaces/n/pods/b')).status).to.equal(404);
  });

  it('serves a pod without a reported UID', async () => {
    await using api = await startApi();
    api.source.serve(podUsage('n', 'a', { uid: undefined }));
    expect(await api.names('pods')).to.deep.equal(['n/a']);
  });

  it('distinguishes missing objects from objects without metrics', async () => {
    await using api = await startApi();
    api.source.liveNodes.set('a', liveNode('a'));
    api.source.livePods.set('n/a', livePod('n', 'a'));
    const messages = await Promise.all(
      ['nodes/zzz', 'nodes/a', 'namespaces/n/pods/zzz', 'namespaces/n/pods/a'].map(async (path) => {
        const { message, details } = jsonOf<{ message: string; details: object }>(await api.request(path));
        return [message, details];
      }),
    );
    expect(messages).to.deep.equal([
      ['node "zzz" not found', { name: 'zzz', kind: 'node' }],
      [
        'nodemetrics.metrics.k8s.io "a" not found',
        { name: 'a', group: 'metrics.k8s.io', kind: 'nodemetrics' },
      ],
      ['pods "zzz" not found', { name: 'zzz', kind: 'pods' }],
      [
        'podmetrics.metrics.k8s.io "n/a" not found',
        { name: 'n/a', group: 'metrics.k8s.io', kind: 'podmetrics' },
      ],
    ]);
  });
});

interface Item {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels: Readonly<Record<string, string>>;
  };
}

async function startApi(): Promise<
  AsyncDisposable & {
    readonly source: FakeMetricsSource;
    request(path: string): Promise<ApiResponse>;
    names(path: string): Promise<readonly string[]>;
  }
> {
  const source = new FakeMetricsSource();
  const server = await startTestApiServer({ groups: [metricsApiGroup(source)] });
  const request = (path: string) =>
    requestHttp1({ port: server.address.port, path: `/apis/metrics.k8s.io/v1beta1/${path}` });
  return {
    source,
    request,
    names: async (path) => {
      const { items } = jsonOf<{ items: readonly Item[] }>(await request(path));
      return items.map(({ metadata: { namespace, name } }) => (namespace ? `${namespace}/${name}` : name));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
