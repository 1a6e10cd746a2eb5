import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { parse } from 'yaml';
import { hostRateCollector } from '#lib/metrics-adapter/collectors/host-rate-collector.ts';
import { httpCollector } from '#lib/metrics-adapter/collectors/http-collector.ts';
import { influxdbCollector } from '#lib/metrics-adapter/collectors/influxdb-collector.ts';
import type { MetricCollector } from '#lib/metrics-adapter/collectors/metric-collector.ts';
import { nakadiCollector } from '#lib/metrics-adapter/collectors/nakadi-collector.ts';
import { planCollectors } from '#lib/metrics-adapter/collectors/plan-collectors.ts';
import { podsCollector } from '#lib/metrics-adapter/collectors/pods-collector.ts';
import { prometheusCollector } from '#lib/metrics-adapter/collectors/prometheus-collector.ts';
import { skipperCollector } from '#lib/metrics-adapter/collectors/skipper-collector.ts';
import { sqlCollector } from '#lib/metrics-adapter/collectors/sql-collector.ts';
import { sqsCollector } from '#lib/metrics-adapter/collectors/sqs-collector.ts';
import { zmonCollector } from '#lib/metrics-adapter/collectors/zmon-collector.ts';
import { readScaledHpa } from '#lib/metrics-adapter/objects/read-scaled-hpa.ts';
import { TargetPods } from '#lib/metrics-adapter/objects/target-pods.ts';
import { AllowedHosts } from '#lib/sources/http/allowed-hosts.ts';
import { HttpClients } from '#lib/sources/http/http-clients.ts';
import { InfluxdbServer } from '#lib/sources/influxdb/influxdb-server.ts';
import { NakadiServer } from '#lib/sources/nakadi/nakadi-server.ts';
import { PrometheusServer } from '#lib/sources/prometheus/prometheus-server.ts';
import { SqsRegion } from '#lib/sources/sqs/sqs-region.ts';
import { ZmonServer } from '#lib/sources/zmon/zmon-server.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { externalMetric, hpaObject, objectMetric, podsMetric } from '#spec/support/scaled-hpas.ts';
import { SqsEmulator } from '#spec/support/sqs-emulator.ts';

const signal = new AbortController().signal;
const PAGE = readFileSync('docs/metrics.md', 'utf8');
const EXAMPLES = [...PAGE.matchAll(/^```yaml\n(- \{[^`]*)```$/gm)].map(([, text = '']) => text);
const INGRESS = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'shop' };

/** What the servers of the examples respond with, by the ends of their paths. */
const RESPONSES: readonly (readonly [string, string])[] = [
  ['/api/v1/query', '{"status":"success","data":{"resultType":"scalar","result":[1767225600,"42"]}}'],
  ['/stats', '{"items":[{"partitions":[{"unconsumed_events":42,"consumer_lag_seconds":42}]}]}'],
  ['/orders', '{"open": 40, "late": 2}'],
  ['/metrics.json', '{"busy": 21, "workers": 50}'],
  ['/api/v2/query', '#datatype,string,long,double\r\n,result,table,_value\r\n,_result,0,42\r\n'],
  ['/datapoints/query', '{"queries":[{"results":[{"values":[[1767225600000,42]]}]}]}'],
];

describe('docs/metrics.md', function () {
  this.timeout(30_000);
  let stack: AsyncDisposableStack;
  let loopback: LoopbackServer;
  let collectors: readonly MetricCollector[];

  before(async () => {
    stack = new AsyncDisposableStack();
    loopback = stack.use(await LoopbackServer.start(({ url }, response) => respond(url, response)));
    const emulator = stack.use(await SqsEmulator.start());
    const queue = await emulator.createQueue('jobs');
    for (let sent = 0; sent < 42; sent++) await emulator.send(queue);
    collectors = collectorsAt(loopback.url, emulator, stack);
  });
  after(() => stack.disposeAsync());

  it('has every setting of every collector, with its description', () => {
    for (const { name, settings } of collectors)
      for (const [setting, { description }] of Object.entries(settings.shape))
        expect(PAGE, `${setting} of ${name}`).to.include(`| \`${setting}\` | ${description} |`);
  });

  it('has an example of every collector that gives what is said of it', async () => {
    const seen = new Set<string>();
    for (const text of EXAMPLES) {
      const list = text
        .replaceAll(/http:\/\/[a-z.]+:\d+/g, loopback.url.origin)
        .replace('port: 8080', `port: ${loopback.port}`);
      const [{ type, metric, collector }] = parse(list) as [Record<'type' | 'metric' | 'collector', string>];
      seen.add(`${type} ${collector}`);
      const hpa = readScaledHpa(
        hpaObject({ annotations: { 'metric-config/collectors': list }, metrics: [metricOf(type, metric)] }),
      );
      if (!hpa) throw new Error('it is an HPA');
      const { planned, problems } = planCollectors(hpa, collectors);
      expect(
        problems.map(({ error }) => error.message),
        text,
      ).to.deep.equal([]);
      expect(planned[0]?.notes, text).to.deep.equal([]);
      const samples = await planned[0]?.query.ask(signal);
      expect(
        samples?.map(({ value }) => value),
        text,
      ).to.deep.equal([42]);
    }
    const all = collectors.flatMap(({ name, types }) => types.map((type) => `${type} ${name}`));
    expect([...seen].sort()).to.deep.equal(all.sort());
  });
});

function respond(url: URL, response: ServerResponse): void {
  response.end(RESPONSES.find(([end]) => url.pathname.endsWith(end))?.[1]);
}

function metricOf(type: string, name: string): object {
  if (type === 'Pods') return podsMetric(name);
  return type === 'Object' ? objectMetric(name, INGRESS) : externalMetric(name);
}

function collectorsAt(
  url: URL,
  emulator: SqsEmulator,
  stack: AsyncDisposableStack,
): readonly MetricCollector[] {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const allowedHosts = new AllowedHosts(['127.0.0.1']);
  const clients = stack.use(new HttpClients({ clock, allowedHosts, userAgent: 'spec' }));
  const http = clients.find();
  const server = new PrometheusServer({ http, url });
  const { credentials, url: endpoint } = emulator;
  const region = stack.use(new SqsRegion({ http, region: 'eu-central-1', endpoint, credentials }));
  const pod = { namespace: 'default', name: 'a', uid: 'u', labels: {}, ip: '127.0.0.1', readySinceMs: 0 };
  const pods = new TargetPods({ find: () => pod, findBy: () => [pod], synced: async () => {} });
  return [
    prometheusCollector({ server, additionalServers: new Map([['other', server]]), clients }),
    httpCollector({ clients }),
    podsCollector({ clock, clients, pods, selectors: { selectorOf: async () => '!absent' } }),
    skipperCollector({
      server,
      client: { getJson: async () => ({ metadata: {}, spec: { rules: [{ host: 'shop.example.org' }] } }) },
      mapper: {
        find: async ({ kind }) => ({ group: 'g', version: 'v1', kind, plural: 'things', namespaced: true }),
      },
      ...{ ingresses: true, routeGroups: true, backendsAnnotations: [] },
    }),
    hostRateCollector({ server, series: 'requests' }),
    influxdbCollector({ clients, server: () => new InfluxdbServer({ http, url, org: 'shop' }) }),
    sqsCollector({ regions: new Map([['eu-central-1', region]]) }),
    zmonCollector({ server: new ZmonServer({ http, url }) }),
    nakadiCollector({ server: new NakadiServer({ http, url }) }),
    sqlCollector({
      sources: new Map([
        [
          'shop',
          { query: () => ({ key: 'a', description: 'a', ask: async () => [{ value: 42, labels: {} }] }) },
        ],
      ]),
    }),
  ];
}
