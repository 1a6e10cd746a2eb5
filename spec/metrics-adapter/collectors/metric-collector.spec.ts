import { expect } from 'chai';
import { readScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import { hostRateCollector } from '#lib/metrics-adapter/collectors/host-rate-collector.ts';
import { httpCollector } from '#lib/metrics-adapter/collectors/http-collector.ts';
import { influxdbCollector } from '#lib/metrics-adapter/collectors/influxdb-collector.ts';
import { nakadiCollector } from '#lib/metrics-adapter/collectors/nakadi-collector.ts';
import { sqsCollector } from '#lib/metrics-adapter/collectors/sqs-collector.ts';
import { zmonCollector } from '#lib/metrics-adapter/collectors/zmon-collector.ts';
import { planCollectors } from '#lib/metrics-adapter/plans/plan-collectors.ts';
import { HttpClients } from '#lib/sources/http/http-clients.ts';
import { InfluxdbServer } from '#lib/sources/http-apis/influxdb-server.ts';
import { NakadiServer } from '#lib/sources/http-apis/nakadi-server.ts';
import { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { SqsRegion } from '#lib/sources/http-apis/sqs-queue.ts';
import { ZmonServer } from '#lib/sources/http-apis/zmon-server.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { externalMetric, readHpaObject } from '#spec/support/scaled-hpas.ts';

const clients = new HttpClients({
  clock: new ManualClock(),
  allowedHosts: new AllowedHosts([]),
  userAgent: 'spec',
});
const http = clients.find();
const url = new URL('http://source');
const COLLECTORS = [
  httpCollector({ clients }),
  influxdbCollector({
    clients,
    server: ({ organization: org = 'ours' }) => new InfluxdbServer({ http, url, org }),
  }),
  zmonCollector({ server: new ZmonServer({ http, url }) }),
  nakadiCollector({ server: new NakadiServer({ http, url }) }),
  sqsCollector({ regions: new Map([['eu-central-1', new SqsRegion({ http, region: 'eu-central-1' })]]) }),
  hostRateCollector({ server: new PrometheusServer({ http, url }), series: 'requests' }),
];

type Settings = Readonly<Record<string, string>>;

/** The settings of each collector, and the resulting query. */
const GOOD: readonly (readonly [string, Settings, string])[] = [
  ['json-path', { endpoint: 'http://me:secret@shop/a', 'json-key': '$.a' }, '$.a in /a of shop'],
  ['influxdb', { query: 'from(b)\n|> last()' }, 'from(b) |> last() of InfluxDB at source'],
  ['influxdb', { 'query-name': 'mine', mine: 'from(b)' }, 'from(b) of InfluxDB at source'],
  ['influxdb', { query: 'from(b)', token: 'secret', org: 'tenant' }, 'from(b) of InfluxDB at source'],
  [
    'influxdb',
    { query: 'from(b)', address: 'http://other:8086', token: 'secret', org: 'o' },
    'from(b) of InfluxDB at other:8086',
  ],
  [
    'zmon',
    { 'check-id': '12', key: 'a', duration: '5m', aggregators: 'max, avg', 'tag-application': 'shop' },
    'check 12 of ZMON at source',
  ],
  [
    'nakadi',
    { 'metric-type': 'unconsumed-events', 'subscription-id': 'abc' },
    'unconsumed-events of abc of Nakadi at source',
  ],
  [
    'nakadi',
    {
      'metric-type': 'consumer-lag-seconds',
      'owning-application': 'o',
      'event-types': 'a.b,c',
      'consumer-group': 'g',
    },
    'consumer-lag-seconds of o of Nakadi at source',
  ],
  [
    'sqs-queue-length',
    { 'queue-name': 'jobs.fifo', region: 'eu-central-1' },
    'length of queue jobs.fifo of SQS in eu-central-1',
  ],
  [
    'requests-per-second',
    { hostnames: 'a.example.org,b-c.example.org', weight: '42' },
    'scalar(sum(rate(requests{host=~"a_example_org|b-c_example_org"}[1m])) * 0.4200) of Prometheus at source',
  ],
  [
    'requests-per-second',
    { hostnames: 'a', weight: '33.3' },
    'scalar(sum(rate(requests{host=~"a"}[1m])) * 0.3330) of Prometheus at source',
  ],
];

describe('readSettings, of every collector of External metrics', () => {
  for (const [collector, settings, description] of GOOD)
    it(`accepts ${Object.keys(settings).join(', ')} of ${collector}`, () => {
      const { planned, problems } = plan(collector, settings);
      expect(problems.map(({ error }) => error.message)).to.deep.equal([]);
      expect(planned.map(({ query }) => query.description)).to.deep.equal([description]);
      expect(planned[0]?.notes).to.deep.equal([]);
      expect(planned[0]?.query.key).not.to.include('secret');
    });

  for (const [metric, collector, settings] of [
    ['http', 'json-path', { endpoint: 'http://shop', 'json-key': '$' }],
    ['flux-query', 'influxdb', { query: 'from(b)' }],
    ['zmon-check', 'zmon', { 'check-id': '1' }],
    ['sqs-queue-length', 'sqs-queue-length', { 'queue-name': 'jobs', region: 'eu-central-1' }],
    ['requests-per-second', 'requests-per-second', { hostnames: 'a.example.org' }],
  ] as const)
    it(`treats a metric ${metric} as one of ${collector}, by labels alone or by annotations for "json"`, () => {
      const annotations = Object.fromEntries(
        Object.entries(settings).map(([name, value]) => [
          `metric-config.external.${metric}.json/${name}`,
          value,
        ]),
      );
      for (const [given, labels] of [
        [annotations, { identifier: 'unique' }],
        [{}, settings],
      ] as const) {
        const { planned: all, problems } = planned(given, labels, metric);
        expect(problems.map(({ error }) => error.message)).to.deep.equal([]);
        expect(all.map((one) => one.collector)).to.deep.equal([collector]);
      }
    });

  it('refuses settings that exclude one another, naming the first', () => {
    const { planned, problems } = plan('nakadi', {
      ...{ 'metric-type': 'unconsumed-events', 'subscription-id': 'a', 'consumer-group': 'g' },
    });
    expect(planned).to.deep.equal([]);
    expect(problems.map(({ error }) => error.message)).to.deep.equal([
      'Annotation metric-config.external.m.nakadi/subscription-id cannot be combined with "owning-application", "event-types" or "consumer-group"',
    ]);
  });

  for (const [missing, settings] of [
    ['all', {}],
    ['its application', { 'event-types': 'a', 'consumer-group': 'g' }],
    ['its events', { 'owning-application': 'o', 'consumer-group': 'g' }],
    ['its group', { 'owning-application': 'o', 'event-types': 'a' }],
  ] as const)
    it(`names the required settings of subscriptions of Nakadi, where ${missing} is missing`, () => {
      const { problems } = plan('nakadi', { 'metric-type': 'unconsumed-events', ...settings });
      expect(problems.map(({ error }) => error.message)).to.deep.equal([
        'Metric External/m requires the setting "subscription-id", or all of "owning-application", "event-types" and "consumer-group"',
      ]);
    });

  for (const [name, value, rule] of [
    ['tag-', 'shop', 'must have the name of a tag after "tag-"'],
    ['tag-application', '', 'must not be empty'],
    ['tag-application', ' \n', 'must not be empty'],
  ] as const)
    it(`refuses ${name} of ZMON that is ${JSON.stringify(value)}, naming it`, () => {
      const { planned, problems } = plan('zmon', { 'check-id': '1', [name]: value });
      expect(planned).to.deep.equal([]);
      expect(problems.map(({ error }) => error.message)).to.deep.equal([
        `Annotation metric-config.external.m.zmon/${name} ${rule}`,
      ]);
    });

  it('has the aggregators of ZMON work one after the other as they are listed', () => {
    const keys = ['max,avg', 'avg, max', 'max', 'last', undefined].map(
      (aggregators) =>
        plan('zmon', { 'check-id': '1', ...(aggregators && { aggregators }) }).planned[0]?.query.key ?? '',
    );
    expect(keys.map((key) => JSON.parse(key).at(-1))).to.deep.equal([
      ['max', 'avg'],
      ['avg', 'max'],
      ['max'],
      ['last'],
      ['last'],
    ]);
  });

  it('has an equal query of ZMON for tags in any order, and others for others', () => {
    const keyOf = (settings: Settings) =>
      plan('zmon', { 'check-id': '1', ...settings }).planned[0]?.query.key;
    const tagged = keyOf({ 'tag-a': '1', 'tag-b': '2' });
    expect(keyOf({ 'tag-b': '2', 'tag-a': '1' })).to.equal(tagged);
    for (const other of [{}, { 'tag-a': '2', 'tag-b': '1' }, { 'tag-a': '1', 'tag-b': '2', key: 'k' }])
      expect(keyOf(other)).to.not.equal(tagged);
    expect(keyOf({ aggregators: 'last', duration: '10m' })).to.equal(keyOf({}));
  });

  it('does not treat properties of every object as keys', () => {
    const annotations = {
      'metric-config.external.m.influxdb/query-name': '__proto__',
      'metric-config.external.m.influxdb/constructor': 'a',
    };
    const { problems } = planned(annotations, { type: 'influxdb', __proto__: 'a' });
    expect(problems.map(({ error }) => error.message)).to.deep.equal([
      'Annotation metric-config.external.m.influxdb/query-name is invalid: metric External/m has no setting "__proto__"',
    ]);
  });
});

function plan(collector: string, settings: Settings) {
  const annotations = Object.fromEntries(
    Object.entries({ ...settings, interval: '30s' }).map(([name, value]) => [
      `metric-config.external.m.${collector}/${name}`,
      value,
    ]),
  );
  return planned(annotations, { type: collector });
}

function planned(annotations: Settings, labels: Settings, metric = 'm') {
  const hpa = readScaledHpa(readHpaObject({ annotations, metrics: [externalMetric(metric, labels)] }));
  if (!hpa) throw new Error('it is an HPA');
  return planCollectors(hpa, COLLECTORS);
}
