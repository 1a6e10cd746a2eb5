import { expect } from 'chai';
import { readMetric, readMetrics } from '#lib/hpa/inputs/metric-reader.ts';
import { CustomMetricsApi, MetricValuesReader } from '#lib/hpa/inputs/metric-values-client.ts';
import { NamespaceUsage } from '#lib/hpa/inputs/pod-metrics-client.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { builtPod } from '#spec/hpa/built-inputs.ts';
import { elapseUntil } from '#spec/support/elapse-until.ts';
import { eventually } from '#spec/support/eventually.ts';
import { type JsonApi, type JsonResponse, refusal, startJsonApi } from '#spec/support/json-api.ts';

const CUSTOM = '/apis/custom.metrics.k8s.io';
const METRICS = '/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods';
const QUEUE = '/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue';
const TARGET = { type: 'AverageValue', averageValue: '1' };

describe('readMetric', () => {
  let api: JsonApi;
  let responses: Record<string, JsonResponse>;
  let customMetrics: CustomMetricsApi;

  beforeEach(async () => {
    responses = {
      [CUSTOM]: { versions: [{ version: 'v1beta1' }, { version: 'v1beta2' }] },
      '/api': { kind: 'APIVersions', versions: ['v1'] },
      '/apis': { kind: 'APIGroupList', groups: [] },
      '/api/v1': {
        kind: 'APIResourceList',
        groupVersion: 'v1',
        resources: [{ name: 'services', kind: 'Service', namespaced: true, verbs: ['get'] }],
      },
    };
    api = await startJsonApi(({ url }) => responses[url.pathname] ?? refusal(404, 'NotFound'));
    customMetrics = new CustomMetricsApi({ client: api.api, clock: api.clock });
  });
  afterEach(() => api[Symbol.asyncDispose]());

  it('returns samples of selected pods, and of unlabelled samples by pod name', async () => {
    const sample = (name: string, labels?: object, more: object = {}) => ({
      metadata: { name, ...(labels && { labels }) },
      timestamp: '2026-01-01T00:00:00Z',
      window: '30.5s',
      containers: [{ name: 'app', usage: { cpu: '5m' } }],
      ...more,
    });
    responses[METRICS] = {
      items: [
        sample('web-0', { app: 'web' }),
        sample('gone', { app: 'web' }, { containers: null }),
        sample('db-0', { app: 'db' }),
        sample('web-1'),
        sample('other'),
        sample('odd', { app: 'web' }, { window: 'long' }),
        'nonsense',
      ],
    };
    const reading = await read({ type: 'Resource', resource: { name: 'cpu', target: TARGET } });
    if (!('podUsage' in reading)) throw new Error(JSON.stringify(reading));
    expect(reading.podUsage.map(({ pod }) => pod)).to.deep.equal(['web-0', 'gone', 'web-1']);
    expect(reading.podUsage[0]).to.deep.include({
      takenAtMs: Date.UTC(2026, 0, 1),
      windowMs: 30_500,
      containers: [{ name: 'app', usage: { cpu: '5m' } }],
    });
  });

  it('reads metrics of pods in the latest supported version', async () => {
    responses[`${CUSTOM}/v1beta2/namespaces/shop/pods/%2A/qps`] = {
      items: [
        { describedObject: { name: 'web-0' }, timestamp: '2026-01-01T00:00:20Z', value: '12' },
        { describedObject: { name: 'web-1' }, timestamp: '2026-01-01T00:00:10Z', value: '500m' },
        { describedObject: { name: 'web-2' } },
      ],
    };
    const reading = await read({ type: 'Pods', pods: { metric: { name: 'qps' }, target: TARGET } });
    expect(reading).to.deep.include({ takenAtMs: Date.UTC(2026, 0, 1, 0, 0, 10) });
    if (!('podValues' in reading)) throw new Error('it has values of pods');
    expect(reading.podValues.map(({ pod, value }) => [pod, value])).to.deep.equal([
      ['web-0', '12'],
      ['web-1', '500m'],
    ]);
  });

  it('reads the value of an object', async () => {
    const path = `${CUSTOM}/v1beta2/namespaces/shop/services/web/hits`;
    responses[path] = { items: [{ describedObject: { name: 'web' }, value: '42' }] };
    expect(await read(object('Service'))).to.deep.equal({ value: '42' });
    responses[path] = { items: [] };
    expect(await read(object('Service'))).to.deep.equal({
      error: 'the custom metrics API server returned 0 results when we asked for exactly one',
    });
    expect(await read(object('Gadget'))).to.deep.equal({
      error: 'unable to map kind Gadget to resource: no matches for kind "Gadget" in group ""',
    });
  });

  it('reads the values of an external metric', async () => {
    responses[QUEUE] = { items: [{ metricName: 'queue', value: '3' }, { value: 4 }] };
    expect(await read(external())).to.deep.equal({ values: ['3', '4'] });
  });

  it('returns the message of the server on failure', async () => {
    const errors = [];
    for (const spec of [external(), resource(), pods()]) {
      const reading = await read(spec);
      errors.push('error' in reading ? reading.error : reading);
    }
    expect(errors).to.deep.equal(['it is NotFound', 'it is NotFound', 'it is NotFound']);
    responses[QUEUE] = refusal(503, 'ServiceUnavailable');
    expect(await read(external())).to.deep.equal({ error: 'it is ServiceUnavailable' });
    responses[QUEUE] = { items: 7 };
    expect(await read(external()))
      .to.have.property('error')
      .that.contains('not a list of metrics');
  });

  it('never treats a Status as an empty list', async () => {
    const failure = { kind: 'Status', status: 'Failure', message: `no\nway${'!'.repeat(10_000)}` };
    for (const path of [QUEUE, METRICS, `${CUSTOM}/v1beta2/namespaces/shop/pods/%2A/qps`])
      responses[path] = failure;
    for (const spec of [external(), resource(), pods()]) {
      const reading = await read(spec);
      expect(reading).to.have.property('error').that.contains('is a Status, not a list of');
      if ('error' in reading) expect(reading.error.length).to.be.lessThan(400);
    }
  });

  it('treats a sum with an unknown part, or an unknown value, as unknown', async () => {
    responses[QUEUE] = { items: [{ value: '70' }, { value: null }, 'nonsense', { value: { a: 1 } }] };
    expect(await read(external())).to.deep.equal({
      error: 'the external metrics API server returned 3 of 4 results without a value',
    });
    responses[`${CUSTOM}/v1beta2/namespaces/shop/services/web/hits`] = { items: [{ value: [] }] };
    expect(await read(object('Service'))).to.deep.equal({
      error: 'the custom metrics API server returned a result without a value',
    });
  });

  it('reports a missing custom metrics API, and discovers it again soon', async () => {
    delete responses[CUSTOM];
    expect(await read(pods())).to.deep.equal({
      error: 'no custom metrics API (custom.metrics.k8s.io) registered',
    });
    responses[CUSTOM] = { versions: [{ version: 'v1beta1' }] };
    responses[`${CUSTOM}/v1beta1/namespaces/shop/pods/%2A/qps`] = { items: [] };
    await api.clock.advance(15_000);
    await read(pods());
    expect(api.requested.at(-1)).to.equal(
      `GET ${CUSTOM}/v1beta1/namespaces/shop/pods/%2A/qps?labelSelector=app%3Dweb`,
    );
  });

  it('throws when the signal aborts', async () => {
    const ended = new AbortController();
    ended.abort(new Error('not the leader'));
    let thrown: unknown;
    await readWith(external(), ended.signal).catch((error: unknown) => {
      thrown = error;
    });
    expect(thrown).to.equal(ended.signal.reason);
  });

  const resource = (): MetricSpec => ({ type: 'Resource', resource: { name: 'cpu', target: TARGET } });
  const pods = (): MetricSpec => ({ type: 'Pods', pods: { metric: { name: 'qps' }, target: TARGET } });
  const external = (): MetricSpec => ({
    type: 'External',
    external: { metric: { name: 'Queue' }, target: TARGET },
  });
  const object = (kind: string): MetricSpec => ({
    type: 'Object',
    object: {
      describedObject: { apiVersion: 'v1', kind, name: 'web' },
      metric: { name: 'hits' },
      target: TARGET,
    },
  });

  function read(spec: MetricSpec) {
    return readWith(spec, new AbortController().signal);
  }

  function readWith(spec: MetricSpec, signal: AbortSignal) {
    const { api: client, clock } = api;
    return readMetric(
      spec,
      {
        ...{ namespace: 'shop', maxAgeMs: 1000, signal },
        selector: parseLabelSelector('app=web'),
        pods: [builtPod('web-0'), builtPod('web-1')],
      },
      {
        customMetrics,
        values: new MetricValuesReader({ client, clock }),
        mapper: new RestMapper({ api: client, clock }),
        usage: new NamespaceUsage({ client, clock }),
      },
    );
  }
});

describe('readMetrics', () => {
  it('reads a thousand metrics of one HPA a few at a time, in order', async () => {
    let [underWay, max] = [0, 0];
    await using api = await startJsonApi(async ({ url }) => {
      max = Math.max(max, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
      return { items: [{ value: url.pathname.slice(url.pathname.lastIndexOf('-') + 1) }] };
    });
    const metrics = Array.from({ length: 1000 }, (_, index) => external(`queue-${index}`));
    const readings = await readAll(api, metrics);
    expect(readings).to.deep.equal(metrics.map((_, index) => ({ values: [`${index}`] })));
    expect(api.requested).to.have.lengthOf(1000);
    expect(max).to.be.within(2, 8);
  });

  it('requests equal metrics once', async () => {
    await using api = await startJsonApi(() => ({ items: [{ value: 7 }] }));
    const readings = await readAll(
      api,
      Array.from({ length: 1000 }, () => external('queue')),
    );
    expect(readings).to.have.lengthOf(1000);
    expect(api.requested).to.have.lengthOf(1);
  });

  it('fails only the metric that stalls, and ends in time when all do', async () => {
    await using api = await startJsonApi(({ url }) =>
      url.pathname.includes('hanging') ? undefined : { items: [{ value: 7 }] },
    );
    const some = readAll(api, [external('a'), external('hanging'), external('b')]);
    await eventually(() => api.requested.length === 3);
    await elapseUntil(api.clock, 1000, async () => await settled(some));
    const [a, hanging, b] = await some;
    expect([a, b]).to.deep.equal([{ values: ['7'] }, { values: ['7'] }]);
    expect(hanging).to.have.property('error').that.contains('external.metrics.k8s.io');
    const startedAtMs = api.clock.monotonicMs();
    const all = readAll(
      api,
      Array.from({ length: 100 }, (_, index) => external(`hanging-${index}`)),
    );
    await elapseUntil(api.clock, 1000, async () => await settled(all));
    expect(api.clock.monotonicMs() - startedAtMs).to.be.within(40_000, 45_000);
    expect((await all).at(-1)).to.deep.equal({
      error: 'not read within 40s, the time limit for all metrics of an HPA',
    });
  });

  it('throws when the signal aborts', async () => {
    await using api = await startJsonApi(() => undefined);
    const ending = new AbortController();
    const reading = readAll(api, [external('a')], ending.signal).catch((error: unknown) => error);
    ending.abort(new Error('not the leader'));
    expect(await reading).to.equal(ending.signal.reason);
  });
});

function readAll(
  { api: client, clock }: JsonApi,
  metrics: readonly MetricSpec[],
  signal = new AbortController().signal,
) {
  return readMetrics(
    metrics,
    { namespace: 'shop', selector: parseLabelSelector('app=web'), pods: [], maxAgeMs: 1000, signal },
    {
      clock,
      onRead: () => {},
      reader: {
        customMetrics: new CustomMetricsApi({ client, clock }),
        mapper: new RestMapper({ api: client, clock }),
        usage: new NamespaceUsage({ client, clock }),
        values: new MetricValuesReader({ client, clock }),
      },
    },
  );
}

function external(name: string): MetricSpec {
  return {
    type: 'External',
    external: { metric: { name }, target: { type: 'AverageValue', averageValue: '1' } },
  };
}

async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}
