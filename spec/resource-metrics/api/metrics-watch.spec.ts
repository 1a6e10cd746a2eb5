import { expect } from 'chai';
import { parse } from 'yaml';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { metricsApiGroup } from '#lib/resource-metrics/api/metrics-api-group.ts';
import type { NodeUsage, PodUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import { jsonOf, requestHttp1 } from '#spec/support/api-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { FakeMetricsSource, livePod, nodeUsage, podUsage } from '#spec/support/metrics-source.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';
import { type ReceivedEvent, WatchStream } from '#spec/support/watch-stream.ts';

const PODS = '/apis/metrics.k8s.io/v1beta1/pods';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('watching metrics', () => {
  let clock: ManualClock;
  let source: FakeMetricsSource;
  let server: ApiServer;
  let sequence = 1;

  beforeEach(async () => {
    clock = new ManualClock(Date.UTC(2026, 10, 21, 8, 50, 30));
    source = new FakeMetricsSource();
    sequence = 1;
    server = await startTestApiServer({
      groups: [metricsApiGroup(source, { watch: { clock, random: () => 0.42 } })],
      clock,
    });
  });
  afterEach(() => server[Symbol.asyncDispose]());

  /** Publishes usages of all objects, and waits for watchers. */
  const publish = async (...usages: readonly (NodeUsage | PodUsage)[]) => {
    source.serve(...usages);
    source.current = { ...source.current, sequence: sequence++ };
    await clock.advance(250);
  };
  const watch = (query = '', headers: Record<string, string> = {}, path = PODS) =>
    WatchStream.open(server.address.port, `${path}?watch=1${query}`, headers);
  const list = async (path = PODS) => {
    const response = await requestHttp1({ port: server.address.port, path });
    return jsonOf<{ metadata: { resourceVersion: string }; items: ReceivedEvent['object'][] }>(response);
  };

  it('sends changes since a list, once per snapshot', async () => {
    const unchanged = podUsage('n', 'a');
    await publish(unchanged, podUsage('n', 'b'), podUsage('n', 'c'));
    const { metadata, items } = await list();
    expect(items.map((item) => item.metadata.resourceVersion)).to.deep.equal(
      items.map(() => metadata.resourceVersion),
    );
    await using stream = await watch(`&resourceVersion=${metadata.resourceVersion}`);
    await publish(unchanged, podUsage('n', 'b', { windowMs: 1 }), podUsage('n', 'd'));
    const events = await stream.take(3);
    expect(events.map(summary)).to.deep.equal(['MODIFIED n/b', 'DELETED n/c', 'ADDED n/d']);
    const version = String(BigInt(metadata.resourceVersion) + 1n);
    expect(events.map(({ object }) => object.metadata.resourceVersion)).to.deep.equal([
      version,
      version,
      version,
    ]);
    expect(events[0]?.object).to.include({
      kind: 'PodMetrics',
      apiVersion: 'metrics.k8s.io/v1beta1',
      window: '1ms',
    });
  });

  it('starts with all objects without a resource version', async () => {
    await publish(podUsage('n', 'a'), podUsage('m', 'a'));
    await using stream = await watch();
    expect((await stream.take(2)).map(summary)).to.deep.equal(['ADDED m/a', 'ADDED n/a']);
    expect(stream.response.headers).to.include({ 'content-type': 'application/json' });
  });

  it('marks the end of the initial objects on request', async () => {
    await publish(podUsage('n', 'a'));
    await using stream = await watch(
      '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    );
    const [added, bookmark] = await stream.take(2);
    expect(added && summary(added)).to.equal('ADDED n/a');
    expect(bookmark).to.deep.equal({
      type: 'BOOKMARK',
      object: {
        kind: 'PodMetrics',
        apiVersion: 'metrics.k8s.io/v1beta1',
        metadata: {
          resourceVersion: added?.object.metadata.resourceVersion,
          annotations: { 'k8s.io/initial-events-end': 'true' },
        },
      },
    });
  });

  it('sends no initial objects on request', async () => {
    await publish(podUsage('n', 'a'));
    await using stream = await watch('&sendInitialEvents=false&resourceVersionMatch=NotOlderThan');
    await publish(podUsage('n', 'b'));
    expect((await stream.take(2)).map(summary)).to.deep.equal(['DELETED n/a', 'ADDED n/b']);
  });

  it('sends bookmarks if no watched object changed', async () => {
    const usage = podUsage('n', 'a');
    await publish(usage);
    const { metadata } = await list();
    await using stream = await watch(`&resourceVersion=${metadata.resourceVersion}&allowWatchBookmarks=1`);
    await publish(usage);
    const [bookmark] = await stream.take(1);
    expect(bookmark?.type).to.equal('BOOKMARK');
    expect(bookmark?.object.metadata).to.deep.equal({
      resourceVersion: String(BigInt(metadata.resourceVersion) + 1n),
    });
  });

  it('is limited to a namespace and to objects that match the selectors before or after', async () => {
    await publish(podUsage('n', 'a'), podUsage('n', 'b'), podUsage('m', 'a'));
    const label = (name: string, app: string) =>
      source.livePods.set(`n/${name}`, livePod('n', name, { labels: { app } }));
    label('a', 'web');
    await using stream = await watch(
      '&labelSelector=app%3Dweb',
      {},
      '/apis/metrics.k8s.io/v1beta1/namespaces/n/pods',
    );
    expect((await stream.take(1)).map(summary)).to.deep.equal(['ADDED n/a']);
    source.serve(podUsage('n', 'a'), podUsage('n', 'b'), podUsage('m', 'a'));
    label('a', 'db');
    label('b', 'web');
    source.current = { ...source.current, sequence: sequence++ };
    await clock.advance(250);
    expect((await stream.take(2)).map(summary)).to.deep.equal(['DELETED n/a', 'ADDED n/b']);
  });

  it('sends objects deleted between a list and the watch', async () => {
    const usage = podUsage('n', 'a');
    await publish(usage);
    const { metadata } = await list();
    source.livePods.delete('n/a');
    expect((await list()).items).to.deep.equal([]);
    await using stream = await watch(`&resourceVersion=${metadata.resourceVersion}`);
    expect((await stream.take(1)).map(summary)).to.deep.equal(['DELETED n/a']);
  });

  it('starts at a recent version, but not at an old one', async () => {
    await publish(podUsage('n', 'a'));
    const { metadata } = await list();
    await publish(podUsage('n', 'b'));
    await using stream = await watch(`&resourceVersion=${metadata.resourceVersion}`);
    expect((await stream.take(2)).map(summary)).to.deep.equal(['DELETED n/a', 'ADDED n/b']);
    for (const name of ['c', 'd', 'e']) {
      await publish(podUsage('n', name));
      await list();
    }
    const path = `${PODS}?watch=1&resourceVersion=${metadata.resourceVersion}`;
    const late = await requestHttp1({ port: server.address.port, path });
    expect(late.status).to.equal(410);
    expect(jsonOf(late)).to.include({ kind: 'Status', reason: 'Expired', code: 410 });
  });

  it('rejects versions of other instances, and invalid ones', async () => {
    await publish(podUsage('n', 'a'));
    const { metadata } = await list();
    const refusal = async (version: string) =>
      (await requestHttp1({ port: server.address.port, path: `${PODS}?watch=1&resourceVersion=${version}` }))
        .status;
    expect(await refusal(String(BigInt(metadata.resourceVersion) + 10n ** 7n))).to.equal(410);
    expect(await refusal('5')).to.equal(410);
    expect(await refusal('abc')).to.equal(400);
  });

  it('sends Tables with columns only in the first', async () => {
    await publish(nodeUsage('a'));
    await using stream = await watch('', { accept: TABLE }, '/apis/metrics.k8s.io/v1beta1/nodes');
    await publish(nodeUsage('a', { cpuNanocores: 1 }));
    const tables = await stream.take(2);
    expect(
      tables.map(({ type, object }) => [type, object.kind, Array.isArray(object.columnDefinitions)]),
    ).to.deep.equal([
      ['ADDED', 'Table', true],
      ['MODIFIED', 'Table', false],
    ]);
    expect(tables[1]?.object.rows).to.have.nested.property('[0].cells[1]', '1n');
  });

  it('sends partial metadata', async () => {
    await publish(podUsage('n', 'a'));
    await using stream = await watch('', {
      accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    });
    const [event] = await stream.take(1);
    expect(event?.object).to.include({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' });
    expect(event?.object).not.to.have.property('containers');
  });

  it('ends after its timeout, and when the server drains', async () => {
    await publish(podUsage('n', 'a'));
    await using short = await watch('&timeoutSeconds=2');
    await using long = await watch();
    await clock.advance(2_000);
    expect((await short.remaining()).map(summary)).to.deep.equal(['ADDED n/a']);
    expect(short.response.complete).to.equal(true);
    const disposed = server[Symbol.asyncDispose]();
    expect((await long.remaining()).map(summary)).to.deep.equal(['ADDED n/a']);
    expect(long.response.complete).to.equal(true);
    await disposed;
    expect(clock.sleeperCount).to.equal(0);
  });

  it('releases everything when the client disconnects', async () => {
    await publish(podUsage('n', 'a'));
    const stream = await watch();
    await stream.take(1);
    expect(clock.sleeperCount).to.be.greaterThan(0);
    await stream[Symbol.asyncDispose]();
    while (clock.sleeperCount > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it('is a verb in discovery, and is not available as YAML', async () => {
    const { port } = server.address;
    const { resources } = jsonOf<{ resources: { verbs: string[] }[] }>(
      await requestHttp1({ port, path: '/apis/metrics.k8s.io/v1beta1' }),
    );
    expect(resources.map(({ verbs }) => verbs)).to.deep.equal([
      ['get', 'list', 'watch'],
      ['get', 'list', 'watch'],
    ]);
    const headers = { accept: 'application/yaml' };
    const refusal = await requestHttp1({ port, path: `${PODS}?watch=1`, headers });
    expect(refusal.status).to.equal(406);
    expect(parse(refusal.body.toString())).to.include({
      message:
        'only the following media types are accepted: ' +
        'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    });
  });
});

function summary({ type, object }: ReceivedEvent): string {
  return `${type} ${object.metadata.namespace}/${object.metadata.name}`;
}
