import { expect } from 'chai';
import { NodeTrends } from '#lib/resource-metrics/debug/describe-node.ts';
import { NodeCache } from '#lib/resource-metrics/nodes/node-cache.ts';
import { PipelineMetrics } from '#lib/resource-metrics/pipeline-series.ts';
import { EndpointChoice } from '#lib/resource-metrics/scrape/endpoint-choice.ts';
import { ScrapeFailureLog } from '#lib/resource-metrics/scrape/scrape-failure-log.ts';
import { ScrapeRecords } from '#lib/resource-metrics/scrape/scrape-records.ts';
import { Scraper } from '#lib/resource-metrics/scrape/scraper.ts';
import { MetricsSink } from '#lib/resource-metrics/sink/metrics-sink.ts';
import { type RunningServer, runServer } from '#spec/support/running-server.ts';
import { ScrapeCycles } from '#spec/support/scrape-cycles.ts';

const NODE_METRICS = '/apis/metrics.k8s.io/v1beta1/nodes';
const NODES = 2;

/** Every stage of a cycle, the method that is broken, and the name under which its failure is counted. */
const STAGES: readonly { readonly prototype: object; readonly method: string; readonly stage?: string }[] = [
  { prototype: NodeCache.prototype, method: 'values', stage: 'nodes' },
  { prototype: Scraper.prototype, method: 'scrape' },
  { prototype: EndpointChoice.prototype, method: 'request' },
  { prototype: EndpointChoice.prototype, method: 'retain', stage: 'endpoints' },
  { prototype: MetricsSink.prototype, method: 'beginCycle', stage: 'sink' },
  { prototype: MetricsSink.prototype, method: 'receive', stage: 'sink' },
  { prototype: MetricsSink.prototype, method: 'retain', stage: 'sink' },
  { prototype: PipelineMetrics.prototype, method: 'recordCycle', stage: 'telemetry' },
  { prototype: PipelineMetrics.prototype, method: 'retain', stage: 'telemetry' },
  { prototype: ScrapeFailureLog.prototype, method: 'record', stage: 'log' },
  { prototype: ScrapeFailureLog.prototype, method: 'retain', stage: 'log' },
  { prototype: ScrapeRecords.prototype, method: 'record', stage: 'debug' },
  { prototype: ScrapeRecords.prototype, method: 'retain', stage: 'debug' },
  { prototype: NodeTrends.prototype, method: 'record', stage: 'debug' },
  { prototype: NodeTrends.prototype, method: 'retain', stage: 'debug' },
];

describe('a stage that throws', () => {
  let server: RunningServer;
  let cycles: ScrapeCycles;

  before(async () => {
    server = await runServer({ nodes: NODES, podsPerNode: 1 }, ['--metric-resolution=15s']);
    cycles = await ScrapeCycles.of(server, NODES);
    for (let cycle = 0; cycle < 2; cycle++) await cycles.next(NODES);
  });
  beforeEach(async () => {
    for (let cycle = 0; cycle < 4; cycle++) await cycles.next(NODES); // a stage's failure is logged once a minute
  });
  after(() => server[Symbol.asyncDispose]());

  for (const { prototype, method, stage } of STAGES) {
    it(`is logged and counted, and the next cycle works: ${prototype.constructor.name}.${method}`, async () => {
      server.logger.lines.length = 0;
      const failuresBefore = await failures(stage);
      {
        using _broken = broken(prototype, method);
        await cycles.next(0);
        await server.clock.advance(3_000);
        await server.get('/livez');
      }
      expect(server.logger.lines.filter(({ level }) => level === 'error')).not.to.deep.equal([]);
      if (stage !== undefined) expect(await failures(stage)).to.be.above(failuresBefore);
      await cycles.next(NODES);
      expect(await server.names(NODE_METRICS)).to.have.length(NODES);
      expect((await server.get('/livez')).status).to.equal(200);
    });
  }

  it('fails only the request that it serves', async () => {
    {
      using _broken = broken(MetricsSink.prototype, 'snapshot');
      expect((await server.get(NODE_METRICS)).status).to.equal(500);
    }
    expect((await server.get(NODE_METRICS)).status).to.equal(200);
  });

  async function failures(stage: string | undefined): Promise<number> {
    const { body } = await server.get('/metrics');
    const line = new RegExp(`^metrics_server_stage_failures_total\\{stage="${stage}"\\} (\\d+)$`, 'm');
    return Number(line.exec(body)?.[1] ?? 0);
  }
});

/** Makes a method or getter of a class, own or inherited, throw until disposed. */
function broken(prototype: object, name: string): Disposable {
  const own = Object.getOwnPropertyDescriptor(prototype, name);
  const sound = own ?? Object.getOwnPropertyDescriptor(Object.getPrototypeOf(prototype), name);
  if (!sound) throw new Error(`there is no ${name} to break`);
  const fail = () => {
    throw new Error('broken on purpose');
  };
  Object.defineProperty(prototype, name, sound.get ? { ...sound, get: fail } : { ...sound, value: fail });
  const mend = () =>
    own ? Object.defineProperty(prototype, name, own) : Reflect.deleteProperty(prototype, name);
  return { [Symbol.dispose]: () => void mend() };
}
