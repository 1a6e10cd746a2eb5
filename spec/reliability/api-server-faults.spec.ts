import { expect } from 'chai';
import {
  type ApiFault,
  addUnknownEvents,
  delayResponses,
  dropBookmarks,
  dropEvents,
  endWatches,
  forRequests,
  type RequestMatch,
  refuseRequests,
  repeatEvents,
  swapEvents,
} from '#simulator/api-server/faults.ts';
import { eventually } from '#spec/support/eventually.ts';
import { type HttpsResponse, requestHttps } from '#spec/support/https-request.ts';
import { countResources, isWithin, maxOf, type OpenResources } from '#spec/support/open-resources.ts';
import { type RunningServer, runServer } from '#spec/support/running-server.ts';
import { RESOLUTION_MS, ScrapeCycles } from '#spec/support/scrape-cycles.ts';

const NODE_METRICS = '/apis/metrics.k8s.io/v1beta1/nodes';
const POD_METRICS = '/apis/metrics.k8s.io/v1beta1/pods';
const NODES = 3;
const VIEWER = 'viewer';

/** Exceeds the maximum backoff between two attempts. */
const BACKOFF_MS = 8_000;

describe('an API server that fails', () => {
  let server: RunningServer;
  let cycles: ScrapeCycles;

  beforeEach(async () => {
    const rules = [{ verbs: ['list'], apiGroups: ['metrics.k8s.io'], resources: ['pods'] }];
    const grants = [{ name: VIEWER, role: 'viewer-of-metrics', users: [VIEWER], rules }];
    server = await runServer({ nodes: NODES, podsPerNode: 2, namespaces: ['default'], grants }, [
      '--metric-resolution=15s',
    ]);
    cycles = await ScrapeCycles.of(server, NODES);
    for (let cycle = 0; cycle < 2; cycle++) await cycles.next(NODES);
    await eventually(async () => (await server.get('/readyz')).status === 200);
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    expect(server.clock.sleeperCount).to.equal(0);
  });

  /** Advances the clock in small steps until a condition holds, which must take less than a minute. */
  async function within(durationMs: number, condition: () => Promise<boolean>): Promise<void> {
    const endMs = server.clock.monotonicMs() + durationMs;
    while (!(await condition())) {
      if (server.clock.monotonicMs() > endMs)
        throw new Error(`It did not hold in ${durationMs} ms: ${condition}`);
      await server.clock.advance(250);
      await server.get('/livez'); // runs sockets, which do not use the manual clock
    }
  }

  const knows = async (label: string) =>
    (await server.names(`${NODE_METRICS}?labelSelector=${label}`)).length === 1;

  /** @returns the only label of the node from now on */
  function changeNode(name: string): string {
    const { store } = server.cluster;
    const node = store.get('nodes', undefined, name);
    if (!node) throw new Error(`no node ${name}`);
    const label = `at-${store.resourceVersion}`;
    const labels = { ...node.metadata.labels, [label]: '' };
    store.update('nodes', { ...node, metadata: { ...node.metadata, labels } });
    return label;
  }

  /** Changes a node and waits until the server has received the change. */
  async function expectNews(name: string, durationMs = 2 * BACKOFF_MS): Promise<void> {
    const label = changeNode(name);
    await within(durationMs, () => knows(label));
  }

  async function requestAsViewer(): Promise<HttpsResponse> {
    const { certificatePem: cert, privateKeyPem: key } = server.cluster.pki.clientCa.issue({
      subject: { commonName: VIEWER, organizations: [] },
      usages: ['clientAuth'],
    });
    return await requestHttps(`${server.origin}${POD_METRICS}`, { cert, key, rejectUnauthorized: false });
  }

  const errors = () => server.logger.lines.filter(({ level }) => level === 'error');

  it('may be down for ten minutes: cached nodes are still scraped and served', async () => {
    expect((await requestAsViewer()).status).to.equal(200);
    await server.cluster.apiServer.stop();
    for (let cycle = 0; cycle < 600_000 / RESOLUTION_MS; cycle++) await cycles.next(NODES);
    expect(await server.names(NODE_METRICS)).to.have.length(NODES);
    expect(await server.names(POD_METRICS)).to.have.length(2 * NODES);
    expect((await server.get('/livez')).status).to.equal(200);
    expect((await server.get('/readyz')).status).to.equal(200);
    const lost = errors().filter(({ message }) => message.startsWith('Cannot list or watch objects'));
    expect(lost.map(({ fields }) => fields.resource).sort()).to.deep.equal(['configmaps', 'nodes', 'pods']);

    expect((await requestAsViewer()).status).to.equal(500); // the cached decision has expired

    await server.cluster.apiServer.start();
    await expectNews('node-1');
    await within(2 * BACKOFF_MS, async () => (await requestAsViewer()).status === 200);
  });

  it('may restart at any moment', async () => {
    for (let restart = 0; restart < 3; restart++) {
      await server.cluster.apiServer.stop();
      await server.cluster.apiServer.start();
      await expectNews('node-1');
    }
  });

  it('may close every watch each second', async () => {
    server.cluster.apiServer.setFaults(endWatches(1000));
    server.cluster.apiServer.dropConnections();
    for (let second = 0; second < 10; second++) await expectNews('node-2');
    expect(server.logger.lines.filter(({ level }) => level === 'warning')).to.deep.equal([]);
  });

  it('may lose its history, including changes of objects meanwhile', async () => {
    const { cluster } = server;
    await cluster.apiServer.stop();
    cluster.deletePod('default', (await server.names(POD_METRICS))[0] ?? '');
    cluster.store.compact();
    await cluster.apiServer.start();
    await expectNews('node-1');
    await within(BACKOFF_MS, async () => (await server.names(POD_METRICS)).length === 2 * NODES - 1);
  });

  for (const [what, fault] of [
    ['lack bookmarks', dropBookmarks],
    ['tell everything twice', repeatEvents],
    ['tell of types that nobody knows', addUnknownEvents],
  ] as const) {
    it(`may ${what}`, async () => {
      server.cluster.apiServer.setFaults(fault);
      server.cluster.apiServer.dropConnections();
      for (let change = 0; change < 3; change++) await expectNews('node-3');
      await server.cluster.removeNode('node-3');
      await within(BACKOFF_MS, async () => (await server.names(NODE_METRICS)).length === NODES - 1);
      expect(errors().length).to.be.at.most(3); // the watches that broke
    });
  }

  it('may send later changes first', async () => {
    const { cluster } = server;
    const pods = await server.names(POD_METRICS);
    const watches = new RequestCounter({ verb: 'watch', resource: 'pods' });
    cluster.apiServer.setFaults(watches.fault, swapEvents);
    cluster.apiServer.dropConnections();
    await within(BACKOFF_MS, async () => watches.count > 0);
    const victim = pods[0] ?? '';
    const pod = cluster.store.get('pods', 'default', victim);
    if (!pod) throw new Error('the pod is gone');
    cluster.store.update('pods', { ...pod, metadata: { ...pod.metadata, labels: { late: 'yes' } } });
    cluster.deletePod('default', victim); // is reported before the change
    await within(BACKOFF_MS, async () => !(await server.names(POD_METRICS)).includes(victim));
  });

  it('may have an object of a megabyte', async () => {
    const { store } = server.cluster;
    const node = store.get('nodes', undefined, 'node-1');
    if (!node) throw new Error('no node');
    const annotations = { notes: 'x'.repeat(1024 * 1024) };
    store.update('nodes', { ...node, metadata: { ...node.metadata, annotations } });
    await expectNews('node-1');
    server.cluster.store.compact();
    await server.cluster.apiServer.stop();
    await server.cluster.apiServer.start();
    await expectNews('node-1');
  });

  it('gets no requests for as long as its 429 response demands', async () => {
    const requested = new RequestCounter({ resource: 'nodes' });
    const refuse = refuseRequests({ code: 429, reason: 'TooManyRequests', retryAfterSeconds: 30 });
    server.cluster.apiServer.setFaults(requested.fault, refuse);
    server.cluster.apiServer.dropConnections();
    await within(BACKOFF_MS, async () => requested.count === 1);
    await server.clock.advance(29_000);
    expect(requested.count).to.equal(1);
    server.cluster.apiServer.setFaults();
    await expectNews('node-1', 31_000);
  });

  it('is queried over HTTP/1.1, which has no GOAWAY, even if it closes each connection after its response', async () => {
    const versions = new Set<string>();
    server.cluster.apiServer.setFaults({
      serve: async ({ raw, response }, { next }) => {
        versions.add(raw.httpVersion);
        response.setHeader('Connection', 'close');
        await next();
      },
    });
    server.cluster.apiServer.dropConnections();
    for (let change = 0; change < 5; change++) await expectNews('node-1');
    for (let caller = 0; caller < 5; caller++) expect((await requestAsViewer()).status).to.equal(200);
    expect([...versions]).to.deep.equal(['1.1']);
  });

  it('may take twenty seconds for a list', async () => {
    server.cluster.apiServer.setFaults(forRequests({ verb: 'list' }, delayResponses(20_000)));
    server.cluster.store.compact();
    server.cluster.apiServer.dropConnections();
    await expectNews('node-1', 60_000);
  });

  it('may fall silent: its watches are reopened after two and a half minutes', async () => {
    const watches = new RequestCounter({ verb: 'watch', resource: 'nodes' });
    server.cluster.apiServer.setFaults(watches.fault, dropEvents);
    server.cluster.apiServer.dropConnections();
    await within(BACKOFF_MS, async () => watches.count > 0);
    server.cluster.apiServer.setFaults(); // for future watches
    const label = changeNode('node-1');
    await server.clock.advance(149_000);
    expect(await knows(label)).to.equal(false);
    await within(2 * BACKOFF_MS, () => knows(label));
  });

  it('causes no leak when it fails and recovers repeatedly', async () => {
    const before = await openInACycle();
    for (let restart = 0; restart < 10; restart++) {
      await server.cluster.apiServer.stop();
      await server.clock.advance(2_000);
      await server.cluster.apiServer.start();
      await expectNews('node-1');
    }
    await within(4 * RESOLUTION_MS, async () => isWithin(await countResources(server.clock), before));
  });

  /** The maximum of each resource from one cycle to the next. */
  async function openInACycle(): Promise<OpenResources> {
    const moments: OpenResources[] = [];
    const endMs = server.clock.monotonicMs() + RESOLUTION_MS;
    await within(2 * RESOLUTION_MS, async () => {
      moments.push(await countResources(server.clock));
      return server.clock.monotonicMs() >= endMs;
    });
    return maxOf(moments);
  }

  it('may lose and regain the ConfigMap with the client CAs', async () => {
    const { store } = server.cluster;
    const found = store.get('configmaps', 'kube-system', 'extension-apiserver-authentication');
    if (!found) throw new Error('no config map');
    store.delete('configmaps', 'kube-system', found.metadata.name);
    await within(BACKOFF_MS, async () =>
      server.logger.lines.some(({ fields }) => fields.reason === 'the ConfigMap was deleted'),
    );
    expect((await server.get(NODE_METRICS)).status).to.equal(200);
    const { resourceVersion: _version, uid: _uid, ...metadata } = found.metadata;
    store.create('configmaps', { ...found, metadata });
    await expectNews('node-1');
    expect((await server.get(NODE_METRICS)).status).to.equal(200);
  });

  it('may run while the wall clock is stepped by an hour, forward and back', async () => {
    for (const byMs of [3_600_000, -7_200_000]) {
      server.clock.stepWall(byMs);
      await cycles.next(NODES);
      expect(await server.names(NODE_METRICS)).to.have.length(NODES);
    }
    await expectNews('node-1');
  });
});

describe('an API server that is down when the server starts', () => {
  it('leaves the server live but not ready, until it is up, without a restart', async () => {
    await using server = await runServer({ nodes: NODES, podsPerNode: 1 }, async (cluster) => {
      await cluster.apiServer.stop();
      return ['--metric-resolution=15s'];
    });
    for (let second = 0; second < 120; second++) await server.clock.advance(1_000);
    expect((await server.get('/livez')).status).to.equal(200);
    expect((await server.get('/readyz')).status).to.equal(500);
    await server.cluster.apiServer.start();
    const startedAtMs = server.clock.monotonicMs();
    while ((await server.get('/readyz')).status !== 200) {
      await server.clock.advance(250);
      expect(server.clock.monotonicMs() - startedAtMs).to.be.below(BACKOFF_MS + 20_000);
    }
    expect(await server.names(POD_METRICS)).to.have.length(NODES);
  });
});

/** Counts the requests that reach the API server and passes them on. */
class RequestCounter {
  count = 0;
  readonly fault: ApiFault;

  constructor(counted: RequestMatch) {
    this.fault = forRequests(counted, {
      serve: async (_request, { next }) => {
        this.count++;
        await next();
      },
    });
  }
}
