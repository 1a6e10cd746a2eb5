import { expect } from 'chai';
import { eventually } from '#spec/support/eventually.ts';
import { type RunningServer, runServer } from '#spec/support/running-server.ts';
import { ScrapeCycles } from '#spec/support/scrape-cycles.ts';

const PODS = '/apis/metrics.k8s.io/v1beta1/pods';
const NODES = 3;
const NODE_NAMES = ['node-1', 'node-2', 'node-3'];
const STANDSTILL_MS = 120_000;
/** The maximum wait until a node is scraped; the first responses are published a second later. */
const FIRST_RESPONSES_MS = NODES * 8 + 1_000;

describe('a server after a standstill of two minutes', () => {
  let server: RunningServer;

  beforeEach(async () => {
    server = await runServer({ nodes: NODES, podsPerNode: 2 }, ['--metric-resolution=15s']);
    const cycles = await ScrapeCycles.of(server, NODES);
    for (let cycle = 0; cycle < 3; cycle++) await cycles.next(NODES);
    expect(await isReady()).to.equal(true);
  });
  afterEach(() => server[Symbol.asyncDispose]());

  const isReady = async () => (await server.get('/readyz')).status === 200;

  it('is not ready while it serves nothing, and is again with its first responses', async () => {
    await server.clock.jump(STANDSTILL_MS);
    expect(await isReady()).to.equal(false);
    expect(await server.names(PODS)).to.deep.equal([]);
    expect((await server.get('/livez')).status).to.equal(200);
    await server.clock.advance(FIRST_RESPONSES_MS);
    await eventually(isReady);
    expect(await server.names(PODS)).to.have.length(2 * NODES);
  });

  it('is ready once all scrapes have failed: discovery must not fail with scraping', async () => {
    for (const name of NODE_NAMES) await server.cluster.setFault(name, 'refuse');
    await server.clock.jump(STANDSTILL_MS);
    expect(await isReady()).to.equal(false);
    await server.clock.advance(FIRST_RESPONSES_MS);
    await eventually(isReady);
    expect(await server.names(PODS)).to.deep.equal([]);
  });
});
