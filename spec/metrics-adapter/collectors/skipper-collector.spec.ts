import { expect } from 'chai';
import { readScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import {
  readIngress,
  readRouteGroup,
  skipperCollector,
} from '#lib/metrics-adapter/collectors/skipper-collector.ts';
import { planCollectors } from '#lib/metrics-adapter/plans/plan-collectors.ts';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { objectMetric, readHpaObject } from '#spec/support/scaled-hpas.ts';

const signal = new AbortController().signal;
const INGRESS = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'shop' };
const ROUTE_GROUP = { apiVersion: 'zalando.org/v1', kind: 'RouteGroup', name: 'shop' };
const WEIGHTS = 'zalando.org/backend-weights';
const RULES = [{ host: 'a-b.example.org' }, { host: '*.example.org' }, {}, { host: 'a-b.example.org' }];

const ingress = (annotations: object = {}, rules: readonly object[] = RULES) => ({
  metadata: { annotations },
  spec: { rules },
});
const routeGroup = (defaultBackends: readonly object[]) => ({
  metadata: {},
  spec: { hosts: ['a.example.org'], defaultBackends },
});

describe('skipperCollector', () => {
  const hosts = 'a-b_example_org|\\\\*_example_org';
  const queries: readonly (readonly [string, object, object, string, string])[] = [
    ['the hosts of an Ingress', INGRESS, ingress(), '', `${hosts}|1.0000`],
    [
      'the weight of a backend, the greatest of several annotations',
      INGRESS,
      ingress({ [WEIGHTS]: '{"blue": 20, "green": 80}', other: '{"blue": 25}', third: 'not looked at' }),
      'blue',
      `${hosts}|0.2500`,
    ],
    [
      'a backend that gets nothing',
      INGRESS,
      ingress({ [WEIGHTS]: '{"green": 100}' }),
      'constructor',
      `${hosts}|0.0000`,
    ],
    [
      'a RouteGroup with one backend',
      ROUTE_GROUP,
      routeGroup([{ backendName: 'a' }]),
      '',
      'a_example_org|1.0000',
    ],
    [
      'a RouteGroup with several',
      ROUTE_GROUP,
      routeGroup([
        { backendName: 'a', weight: 30 },
        { backendName: 'b', weight: 70 },
      ]),
      'b',
      'a_example_org|0.7000',
    ],
    [
      'a RouteGroup whose weights are not percentages',
      ROUTE_GROUP,
      routeGroup([
        { backendName: 'a', weight: 1 },
        { backendName: 'b', weight: 1 },
      ]),
      'a',
      'a_example_org|0.5000',
    ],
  ];
  for (const [what, object, served, backend, expected] of queries)
    it(`queries by ${what}`, async () => {
      await using system = await setUp(served);
      const annotations = { 'metric-config.object.requests-per-second.skipper/backend': backend };
      const { planned } = system.plan({ object, annotations: backend === '' ? {} : annotations });
      expect(await planned[0]?.query.run(signal)).to.have.lengthOf(1);
      const [pattern, weight] = [expected.slice(0, expected.lastIndexOf('|')), expected.split('|').at(-1)];
      expect(new URLSearchParams(system.prometheus.requests[0]?.body).get('query')).to.equal(
        `scalar(sum(rate(skipper_serve_host_duration_seconds_count{host=~"${pattern}"}[1m])) * ${weight})`,
      );
    });

  it('uses annotations for its metric, whatever collector they name', async () => {
    await using system = await setUp(ingress({ [WEIGHTS]: '{"blue": 20}' }));
    const key = 'metric-config.object.requests-per-second.ingress';
    const annotations = { [`${key}/backend`]: 'blue', [`${key}/interval`]: '15s' };
    const { planned, problems } = system.plan({ object: INGRESS, annotations });
    expect(problems).to.deep.equal([]);
    expect(planned.map(({ collector, intervalMs }) => [collector, intervalMs])).to.deep.equal([
      ['skipper', 15_000],
    ]);
    await planned[0]?.query.run(signal);
    expect(system.prometheus.requests[0]?.body).to.include('0.2000');
  });

  it('uses the backend after the comma of the metric’s name, too', async () => {
    await using system = await setUp(ingress({ [WEIGHTS]: '{"blue": 20}' }));
    const { planned } = system.plan({ object: INGRESS, name: 'requests-per-second,blue' });
    await planned[0]?.query.run(signal);
    expect(system.prometheus.requests[0]?.body).to.include('0.2000');
  });

  it('divides by replicas unless the target is an average already', async () => {
    await using system = await setUp(ingress());
    expect(system.plan({ object: INGRESS }).planned[0]?.perReplica).to.equal(true);
    const average = system.plan({ object: INGRESS, target: { type: 'AverageValue', averageValue: '10' } });
    expect(average.planned[0]?.perReplica).to.equal(false);
  });

  const failing: readonly (readonly [string, object, RegExp])[] = [
    ['has no hosts', ingress({}, [{}]), /^Ingress default\/shop has no hosts$/],
    [
      'shares out among backends none of which is named',
      ingress({ [WEIGHTS]: '{"a": 1}' }),
      /^The setting "backend" is missing/,
    ],
    ['has weights that are none', ingress({ [WEIGHTS]: '{"a": 101}' }), /must be a JSON object of backends/],
    ['has a host that is none', ingress({}, [{ host: 'a"}) or vector(1) #' }]), /is not a host name$/],
    ['is something else', { a: 1 }, /^Cannot find hosts of Ingress default\/shop/],
  ];
  for (const [what, served, error] of failing)
    it(`has no result for an Ingress that ${what}`, async () => {
      await using system = await setUp(served);
      const [planned] = system.plan({ object: INGRESS }).planned;
      expect(await errorOf(planned?.query.run(signal) ?? Promise.resolve())).to.match(error);
    });

  it('leaves Ingresses of other groups, other metrics and other objects alone', async () => {
    await using system = await setUp(ingress());
    const nothing = { planned: [], problems: [] };
    const other = { ...INGRESS, apiVersion: 'example.org/v1' };
    expect(system.plan({ object: other })).to.deep.equal(nothing);
    expect(system.plan({ object: INGRESS, name: 'latency' })).to.deep.equal(nothing);
    const annotations = { 'metric-config.object.requests-per-second.skipper/backend': 'a' };
    expect(system.plan({ object: other, annotations }).problems).to.have.lengthOf(1);
    expect(
      system.plan({ object: INGRESS, annotations: { [Object.keys(annotations)[0] ?? '']: '' } }).problems[0]
        ?.error.message,
    ).to.match(/skipper\/backend must not be empty$/);
  });
});

interface Plan {
  readonly object: object;
  readonly name?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly target?: object;
}

async function setUp(served: object) {
  const stack = new AsyncDisposableStack();
  const body = '{"status":"success","data":{"resultType":"scalar","result":[1767225600,"5"]}}';
  const prometheus = stack.use(await LoopbackServer.start((_, response) => void response.end(body)));
  const allowedHosts = new AllowedHosts(['127.0.0.1']);
  const http = stack.use(new HttpClient({ clock: new ManualClock(), allowedHosts, userAgent: 'spec' }));
  const collector = skipperCollector({
    server: new PrometheusServer({ http, url: prometheus.url }),
    client: { getJson: async () => served },
    mapper: {
      find: async ({ kind }) => ({ group: 'g', version: 'v1', kind, plural: 'things', namespaced: true }),
    },
    ...{ ingresses: true, routeGroups: true, backendsAnnotations: [WEIGHTS, 'other'] },
  });
  return {
    prometheus,
    plan({ object, name = 'requests-per-second', annotations = {}, target }: Plan) {
      const metric = objectMetric(name, object) as { readonly object: object };
      const given = target ? { ...metric, object: { ...metric.object, target } } : metric;
      const hpa = readScaledHpa(readHpaObject({ annotations, metrics: [given] }));
      if (!hpa) throw new Error('it is an HPA');
      return planCollectors(hpa, [collector]);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const STACKS = 'zalando.org/stack-traffic-weights';
const NAMES = [WEIGHTS, STACKS];

describe('readIngress', () => {
  it('has each host once, and none of rules without one', () => {
    const rules = [{ host: 'a.example' }, {}, { host: '' }, { host: 'b.example' }, { host: 'a.example' }];
    const read = readIngress({ metadata: {}, spec: { rules } }, NAMES);
    expect(read).to.deep.equal({ hosts: ['a.example', 'b.example'], weights: [] });
    for (const spec of [{}, { rules: null }])
      expect(readIngress({ metadata: { annotations: null }, spec }, NAMES).hosts).to.deep.equal([]);
  });

  it('reads the weights of each configured annotation, in order', () => {
    const annotations = { [STACKS]: '{"c": 100}', [WEIGHTS]: '{"a": 0.5, "b": 99.5}', other: '{"d": 1}' };
    const weights = readIngress({ metadata: { annotations }, spec: {} }, NAMES).weights;
    expect(weights).to.deep.equal([{ a: 0.5, b: 99.5 }, { c: 100 }]);
    expect(readIngress({ metadata: { annotations: {} }, spec: {} }, ['toString']).weights).to.deep.equal([]);
  });

  for (const text of [
    '',
    'none',
    '[1]',
    '{"a": "1"}',
    '{"a": -1}',
    '{"a": 101}',
    `{"a": 1}${' '.repeat(65_529)}`,
  ])
    it(`names the annotation with ${text.slice(0, 20)}`, () => {
      const object = { metadata: { annotations: { [WEIGHTS]: text } }, spec: {} };
      expect(() => readIngress(object, NAMES)).to.throw(
        'annotation zalando.org/backend-weights must be a JSON object of backends and percentages',
      );
    });

  it('accepts weights of 0 and 100 per cent, and an annotation of the maximum length', () => {
    const text = `{"a": 0, "b": 100}`.padEnd(65_536);
    const object = { metadata: { annotations: { [WEIGHTS]: text } }, spec: {} };
    expect(readIngress(object, NAMES).weights).to.deep.equal([{ a: 0, b: 100 }]);
  });
});

describe('readRouteGroup', () => {
  const backends = [{ backendName: 'a', weight: 80 }, { backendName: 'b' }];

  it('has each host once, and the weights of its backends, where there are several', () => {
    const spec = { hosts: ['a.example', 'b.example', 'a.example'], defaultBackends: backends };
    expect(readRouteGroup({ spec })).to.deep.equal({
      hosts: ['a.example', 'b.example'],
      weights: [{ a: 100, b: 0 }],
    });
    expect(readRouteGroup({ spec: { defaultBackends: backends.slice(0, 1) } }).weights).to.deep.equal([]);
    for (const none of [{}, { hosts: null, defaultBackends: null }])
      expect(readRouteGroup({ spec: none })).to.deep.equal({ hosts: [], weights: [] });
  });

  it('refuses too many values', () => {
    const spec = { hosts: Array(20_000).fill(7) };
    expect(() => readRouteGroup({ spec })).to.throw('Cannot read object: more than 20000 values');
  });

  const shared: readonly (readonly [string, readonly object[], Readonly<Record<string, number>>])[] = [
    [
      'what its weights are of their sum, which need not be 100',
      [
        { backendName: 'a', weight: 300 },
        { backendName: 'b', weight: 100 },
      ],
      { a: 75, b: 25 },
    ],
    [
      'even shares where no backend has a weight',
      [{ backendName: 'a' }, { backendName: 'b' }],
      { a: 50, b: 50 },
    ],
    [
      'even shares where all weights are 0',
      ['a', 'b', 'c', 'd'].map((backendName) => ({ backendName, weight: 0 })),
      { a: 25, b: 25, c: 25, d: 25 },
    ],
  ];
  for (const [what, defaultBackends, expected] of shared)
    it(`has ${what}, as Skipper deals requests out`, () => {
      expect(readRouteGroup({ spec: { defaultBackends } }).weights).to.deep.equal([expected]);
    });

  it('refuses an invalid weight', () => {
    for (const weight of [-1, '1'])
      expect(() => readRouteGroup({ spec: { defaultBackends: [{ backendName: 'a', weight }] } })).to.throw();
  });
});
