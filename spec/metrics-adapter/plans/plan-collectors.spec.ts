import { expect } from 'chai';
import { readScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import { prometheusCollector } from '#lib/metrics-adapter/collectors/prometheus-collector.ts';
import { planCollectors } from '#lib/metrics-adapter/plans/plan-collectors.ts';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { HttpClients } from '#lib/sources/http/http-clients.ts';
import { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import {
  externalMetric,
  type HpaInput,
  objectMetric,
  podsMetric,
  readHpaObject,
} from '#spec/support/scaled-hpas.ts';

const http = new HttpClient({
  clock: new ManualClock(),
  allowedHosts: new AllowedHosts([]),
  userAgent: 'spec',
});
const serverAt = (url: string) => new PrometheusServer({ http, url: new URL(url) });
const PROMETHEUS = {
  server: serverAt('http://prometheus'),
  additionalServers: new Map([['other', serverAt('http://other')]]),
  clients: new HttpClients({
    clock: new ManualClock(),
    allowedHosts: new AllowedHosts([]),
    userAgent: 'spec',
  }),
};

describe('planCollectors', () => {
  it('plans the query of an annotation', () => {
    const { planned, problems } = plan({
      annotations: {
        'metric-config.external.rate.prometheus/query': 'sum(rate(a[1m]))',
        'metric-config.external.rate.prometheus/interval': '30s',
      },
      metrics: [externalMetric('rate', { type: 'prometheus' })],
    });
    expect(problems).to.deep.equal([]);
    expect(planned).to.have.length(1);
    expect(planned[0]).to.include({ collector: 'prometheus', intervalMs: 30_000, perReplica: false });
    expect(planned[0]?.query.description).to.equal('sum(rate(a[1m])) of Prometheus at prometheus');
  });

  const queries: readonly (readonly [string, HpaInput, string])[] = [
    [
      'the selector',
      { metrics: [externalMetric('rate', { type: 'prometheus', query: 'up' })] },
      'up of Prometheus at prometheus',
    ],
    [
      'the annotation that the label query-name names',
      {
        annotations: { 'metric-config.external.prometheus-query.prometheus/events': 'sum(e)' },
        metrics: [externalMetric('prometheus-query', { 'query-name': 'events' })],
      },
      'sum(e) of Prometheus at prometheus',
    ],
    [
      'an annotation, of another server',
      {
        annotations: {
          'metric-config.external.a.prometheus/query': 'up',
          'metric-config.external.a.prometheus/prometheus-server': 'https://me:secret@mine:9090/x',
        },
        metrics: [externalMetric('a')],
      },
      'up of Prometheus at mine:9090',
    ],
    [
      'an annotation, of a server that the administrator names',
      {
        annotations: {
          'metric-config.external.a.prometheus/query': 'up',
          'metric-config.external.a.prometheus/prometheus-server-alias': 'other',
        },
        metrics: [externalMetric('a')],
      },
      'up of Prometheus at other',
    ],
    [
      'an annotation of an object',
      {
        annotations: { 'metric-config.object.a.prometheus/query': 'up' },
        metrics: [objectMetric('a', { apiVersion: 'v1', kind: 'Service', name: 'web' })],
      },
      'up of Prometheus at prometheus',
    ],
    [
      'the annotation of an object that another one names, of a server that the administrator names',
      {
        annotations: {
          'metric-config.object.a.prometheus/query-name': 'mine',
          'metric-config.object.a.prometheus/mine': 'sum(e)',
          'metric-config.object.a.prometheus/prometheus-server-alias': 'other',
        },
        metrics: [objectMetric('a', { apiVersion: 'v1', kind: 'Service', name: 'web' })],
      },
      'sum(e) of Prometheus at other',
    ],
  ];
  for (const [where, input, description] of queries)
    it(`finds the query in ${where}`, () => {
      const { planned, problems } = plan(input);
      expect(problems).to.deep.equal([]);
      expect(planned.map(({ query }) => query.description)).to.deep.equal([description]);
    });

  const broken: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['no query', { interval: '30s' }, 'Metric External/a has neither the setting "query" nor "query-name"'],
    [
      'an empty query',
      { query: ' ' },
      'Annotation metric-config.external.a.prometheus/query must not be empty',
    ],
    [
      'a name of no query',
      { 'query-name': 'b' },
      'Annotation metric-config.external.a.prometheus/query-name is invalid: metric External/a has no setting "b"',
    ],
    [
      'a name of an empty query',
      { 'query-name': 'b', b: ' ' },
      'Annotation metric-config.external.a.prometheus/query-name is invalid: metric External/a has no setting "b"',
    ],
    [
      'a server that is no URL',
      { query: 'up', 'prometheus-server': 'p:90' },
      'Annotation metric-config.external.a.prometheus/prometheus-server must be a URL that begins with http:// or https://',
    ],
    [
      'two servers',
      { query: 'up', 'prometheus-server': 'http://mine', 'prometheus-server-alias': 'other' },
      'Annotation metric-config.external.a.prometheus/prometheus-server-alias and Annotation metric-config.external.a.prometheus/prometheus-server are mutually exclusive',
    ],
    [
      'an unknown server',
      { query: 'up', 'prometheus-server-alias': 'x' },
      'Annotation metric-config.external.a.prometheus/prometheus-server-alias must be one of --additional-prometheus-server (other), not "x"',
    ],
  ];
  for (const [what, settings, error] of broken)
    it(`names the annotation of ${what}`, () => {
      const annotations = Object.fromEntries(
        Object.entries(settings).map(([key, value]) => [`metric-config.external.a.prometheus/${key}`, value]),
      );
      const { planned, problems } = plan({ annotations, metrics: [externalMetric('a')] });
      expect(planned).to.deep.equal([]);
      expect(problems.map(({ metric, error: { message } }) => [metric, message])).to.deep.equal([
        ['External/a', error],
      ]);
    });

  it('names the flag and the annotation for a missing server', () => {
    const collector = prometheusCollector({ ...PROMETHEUS, server: undefined });
    const hpa = readScaledHpa(
      readHpaObject({ metrics: [externalMetric('a', { type: 'prometheus', query: 'up' })] }),
    );
    if (!hpa) throw new Error('it is an HPA');
    const [problem] = planCollectors(hpa, [collector]).problems;
    expect(problem?.error.message).to.equal(
      'No Prometheus server to query: neither the flag --prometheus-server nor the annotation metric-config.external.a.prometheus/prometheus-server is set',
    );
  });

  it('names the flag and the list for a missing server of a metric of the list', () => {
    const collector = prometheusCollector({ ...PROMETHEUS, server: undefined });
    const list = '[{type: External, metric: queue_depth, collector: prometheus, query: up}]';
    const annotations = { 'metric-config/collectors': list };
    const hpa = readScaledHpa(readHpaObject({ annotations, metrics: [externalMetric('queue_depth')] }));
    if (!hpa) throw new Error('it is an HPA');
    expect(planCollectors(hpa, [collector]).problems[0]?.error.message).to.equal(
      'No Prometheus server to query: neither the flag --prometheus-server nor prometheus-server of its entry in metric-config/collectors is set',
    );
  });

  it('notes that per-replica means nothing to an External metric, and that "false" divides an Object metric, too', () => {
    const { planned } = plan({
      annotations: {
        'metric-config.external.a.prometheus/query': 'up',
        'metric-config.external.a.prometheus/per-replica': 'true',
        'metric-config.object.b.prometheus/query': 'up',
        'metric-config.object.b.prometheus/per-replica': 'false',
        'metric-config.object.c.prometheus/query': 'up',
        'metric-config.object.c.prometheus/per-replica': 'true',
      },
      metrics: [
        externalMetric('a'),
        objectMetric('b', { apiVersion: 'v1', kind: 'Service', name: 'web' }),
        objectMetric('c', { apiVersion: 'v1', kind: 'Service', name: 'web' }),
      ],
    });
    expect(planned.map(({ perReplica, notes }) => [perReplica, notes])).to.deep.equal([
      [
        false,
        [
          'Annotation metric-config.external.a.prometheus/per-replica has no effect for a metric of type External',
        ],
      ],
      [
        true,
        [
          'Annotation metric-config.object.b.prometheus/per-replica divides the value even if it is "false"; to use the value undivided, remove the setting',
        ],
      ],
      [true, []],
    ]);
  });

  it('names a setting that is likely the query, misspelt', () => {
    const { problems } = plan({
      annotations: { 'metric-config.external.a.prometheus/qurey': 'up' },
      metrics: [externalMetric('a')],
    });
    expect(problems[0]?.error.message).to.equal(
      'Metric External/a has neither the setting "query" nor "query-name"; Annotation metric-config.external.a.prometheus/qurey is not a setting of collector prometheus',
    );
  });

  it('names a collector that there is not', () => {
    const { problems } = plan({
      annotations: { 'metric-config.external.a.prometeus/query': 'up' },
      metrics: [externalMetric('a')],
    });
    expect(problems[0]?.error.message).to.equal(
      'Unknown collector "prometeus" for External/a: must be prometheus',
    );
  });

  it('lists the collectors that a misspelt label type may name', () => {
    const hpa = readScaledHpa(
      readHpaObject({
        annotations: { 'metric-config.external.a.prometheus/query': 'up' },
        metrics: [externalMetric('a', { type: 'prometeus' })],
      }),
    );
    if (!hpa) throw new Error('it is an HPA');
    const collectors = [
      prometheusCollector(PROMETHEUS),
      { ...prometheusCollector(PROMETHEUS), name: 'other' },
    ];
    expect(planCollectors(hpa, collectors).problems[0]?.error.message).to.equal(
      'Unknown collector "prometeus" in the label type of External/a: must be prometheus or other',
    );
  });

  for (const [collector, flags] of [
    ['requests-per-second', '--prometheus-server and --external-rps-metrics'],
    ['sqs-queue-length', '--aws-external-metrics'],
    ['zmon', '--zmon-kariosdb-endpoint'],
    ['nakadi', '--nakadi-endpoint'],
  ])
    it(`names the flags that collector ${collector} needs, where it has none of them`, () => {
      const { problems } = plan({
        annotations: { [`metric-config.external.a.${collector}/interval`]: '30s' },
        metrics: [externalMetric('a')],
      });
      expect(problems[0]?.error.message).to.equal(`Collector ${collector} for External/a requires ${flags}`);
    });

  it('refuses two configurations of one metric', () => {
    const { problems } = plan({
      annotations: {
        'metric-config.external.a.prometheus/query': 'up',
        'metric-config.external.a.json-path/json-key': '$',
      },
      metrics: [externalMetric('a')],
    });
    expect(problems[0]?.error.message).to.equal(
      'Annotations configure External/a more than once: json-path, prometheus',
    );
  });

  it('collects at most the first 100 metrics of an HPA, whatever its annotations', () => {
    const metrics = Array.from({ length: 500 }, (_, index) =>
      externalMetric(`m${index}`, { type: 'prometheus', query: 'up' }),
    );
    const annotations = Object.fromEntries(
      Array.from({ length: 4000 }, (_, index) => [
        `metric-config.external.m${index % 2000}.prometheus/k${index}`,
        '',
      ]),
    );
    const { planned, problems } = plan({ annotations, metrics });
    expect(planned).to.have.lengthOf(100);
    expect(planned[0]?.notes).to.have.lengthOf(2);
    const [first, ...unasked] = problems.map(({ error }) => error.message);
    expect(first).to.equal('Only the first 100 metrics of an HPA are collected');
    expect(unasked).to.have.lengthOf(10);
  });

  it('reports annotations for unused metrics and of unknown form, without an event', () => {
    const annotations = {
      'metric-config.external.queue-depht.prometheus/query': 'up',
      'metric-config.external.queue.depth.prometheus/query': 'up',
      'metric-config/collectors': '[{type: Pods, metric: rps, collector: json-path}]',
    };
    const metrics = [externalMetric('queue-depth', { type: 'prometheus', query: 'up' })];
    const { planned, problems } = plan({ annotations, metrics });
    expect(planned).to.have.lengthOf(1);
    expect(problems.every(({ isQuiet }) => isQuiet)).to.equal(true);
    expect(problems.map(({ metric, error }) => [metric, error.message])).to.deep.equal([
      [
        '',
        'Annotation metric-config.external.queue.depth.prometheus/query is ignored: the key must have the form metric-config.TYPE.METRIC.COLLECTOR/SETTING; configure a metric with a dot in its name by metric-config/collectors',
      ],
      ...['External/queue-depht', 'Pods/rps'].map((name) => [
        name,
        `Annotations configure ${name}, which no metric of the HPA uses; the HPA uses External/queue-depth`,
      ]),
    ]);
  });

  it('reports an annotation as a misspelled name where a metric of its type has no collector', () => {
    const annotations = {
      'metric-config.external.queue-dpth.prometheus/query': 'up',
      'metric-config.pods.rsp.json-path/json-key': '$',
    };
    const others = [externalMetric('lag'), externalMetric('other', { type: 'prometheus', query: 'up' })];
    const { planned, problems } = plan({ annotations, metrics: [externalMetric('queue-depth'), ...others] });
    expect(planned.map(({ metric }) => metric.name)).to.deep.equal(['other']);
    const reported = problems.map(({ metric, meant, isQuiet, error }) => [
      metric,
      meant,
      isQuiet,
      error.message,
    ]);
    expect(reported).to.deep.equal([
      [
        'External/queue-dpth',
        'External/queue-depth, External/lag',
        undefined,
        'Annotations configure External/queue-dpth, which no metric of the HPA uses; the HPA uses External/queue-depth, External/lag, which nothing collects',
      ],
      [
        'Pods/rsp',
        undefined,
        true,
        'Annotations configure Pods/rsp, which no metric of the HPA uses; the HPA uses External/queue-depth, External/lag, External/other',
      ],
    ]);
  });

  it('reports configured metrics to an HPA with resource metrics alone', () => {
    const annotations = { 'metric-config.external.queue-depth.prometheus/query': 'up' };
    const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } };
    const { planned, problems } = plan({ annotations, metrics: [cpu] });
    expect(planned).to.deep.equal([]);
    expect(problems.map(({ error, isQuiet }) => [error.message, isQuiet])).to.deep.equal([
      [
        'Annotations configure External/queue-depth, which no metric of the HPA uses; the HPA uses only resource metrics',
        true,
      ],
    ]);
  });

  for (const [what, metric] of [
    ['a metric of a known name', externalMetric('prometheus-query', { identifier: 'unique' })],
    ['a label type', externalMetric('a', { type: 'prometheus' })],
    ['a label type that is a known name of a metric', externalMetric('a', { type: 'prometheus-query' })],
  ] as const)
    it(`finds the collector by ${what}, whatever annotations call it`, () => {
      const { name } = (metric as { readonly external: { readonly metric: { readonly name: string } } })
        .external.metric;
      const { planned, problems } = plan({
        annotations: { [`metric-config.external.${name}.prom/query`]: 'up' },
        metrics: [metric],
      });
      expect(problems).to.deep.equal([]);
      expect(planned.map(({ collector, query }) => [collector, query.description])).to.deep.equal([
        ['prometheus', 'up of Prometheus at prometheus'],
      ]);
    });

  it("leaves other providers' metrics alone", () => {
    const metrics = [
      externalMetric('s0-rabbitmq', { 'scaledobject.keda.sh/name': 'web' }),
      externalMetric('pubsub', { type: 'google' }),
      externalMetric('lag', { type: 'prometheus-query' }),
      externalMetric('prometheus-query', { type: 'google', query: 'up' }),
      podsMetric('requests'),
      objectMetric('rate', { apiVersion: 'v1', kind: 'Service', name: 'web' }),
    ];
    expect(plan({ metrics })).to.deep.equal({ planned: [], problems: [] });
  });

  it('reports expressions of a selector, which are not settings and match no label of its own', () => {
    const matchLabels = { type: 'prometheus', query: 'up', zone: 'a' };
    const matchExpressions = [
      { key: 'env', operator: 'In', values: ['live'] },
      { key: 'zone', operator: 'Exists' },
    ];
    const target = { type: 'Value', value: '1' };
    const metric = { name: 'm', selector: { matchLabels, matchExpressions } };
    const { planned } = plan({ metrics: [{ type: 'External', external: { metric, target } }] });
    expect(planned.map(({ notes }) => notes)).to.deep.equal([
      [
        'matchExpressions with the keys env are not settings of the collector: the HPA gets no value unless the source returns labels that match them',
      ],
    ]);
  });

  it('distinguishes metrics of one name by their selectors', () => {
    const metrics = ['a', 'b'].map((query) => externalMetric('m', { type: 'prometheus', query }));
    expect(new Set(plan({ metrics }).planned.map(({ key }) => key)).size).to.equal(2);
  });

  it('treats selectors with the same requirements in another order as equal', () => {
    const labels = [
      ['type', 'prometheus'],
      ['query', 'up'],
      ['zone', 'a'],
    ] as const;
    for (const order of [[0, 2, 1] as const, [1, 0, 2] as const, [2, 1, 0] as const]) {
      const metrics = [labels, order.map((index) => labels[index])].map((entries) =>
        externalMetric('m', Object.fromEntries(entries)),
      );
      expect(plan({ metrics }).planned, order.join()).to.have.lengthOf(1);
    }
  });
});

function plan(input: HpaInput) {
  const hpa = readScaledHpa(readHpaObject(input));
  if (!hpa) throw new Error('it is an HPA');
  return planCollectors(hpa, [prometheusCollector(PROMETHEUS)]);
}
