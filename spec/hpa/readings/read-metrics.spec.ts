import { expect } from 'chai';
import { CustomMetricsApi } from '#lib/hpa/readings/custom-metrics-api.ts';
import { MetricValuesReader } from '#lib/hpa/readings/metric-values-reader.ts';
import { NamespaceUsage } from '#lib/hpa/readings/namespace-usage.ts';
import { readMetrics } from '#lib/hpa/readings/read-metrics.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { elapseUntil } from '#spec/support/elapse-until.ts';
import { eventually } from '#spec/support/eventually.ts';
import { type JsonApi, startJsonApi } from '#spec/support/json-api.ts';

describe('readMetrics', () => {
  it('reads a thousand metrics of one HPA a few at a time, each in its place', async () => {
    let [underWay, most] = [0, 0];
    await using api = await startJsonApi(async ({ url }) => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
      return { items: [{ value: url.pathname.slice(url.pathname.lastIndexOf('-') + 1) }] };
    });
    const metrics = Array.from({ length: 1000 }, (_, place) => external(`queue-${place}`));
    const readings = await readAll(api, metrics);
    expect(readings).to.deep.equal(metrics.map((_, place) => ({ values: [`${place}`] })));
    expect(api.asked).to.have.lengthOf(1000);
    expect(most).to.be.within(2, 8);
  });

  it('asks once for what several metrics are', async () => {
    await using api = await startJsonApi(() => ({ items: [{ value: 7 }] }));
    const readings = await readAll(
      api,
      Array.from({ length: 1000 }, () => external('queue')),
    );
    expect(readings).to.have.lengthOf(1000);
    expect(api.asked).to.have.lengthOf(1);
  });

  it('costs a metric that hangs itself alone, and ends in time where all do', async () => {
    await using api = await startJsonApi(({ url }) =>
      url.pathname.includes('hanging') ? undefined : { items: [{ value: 7 }] },
    );
    const some = readAll(api, [external('a'), external('hanging'), external('b')]);
    await eventually(() => api.asked.length === 3);
    await elapseUntil(api.clock, 1000, async () => await settled(some));
    const [a, hanging, b] = await some;
    expect([a, b]).to.deep.equal([{ values: ['7'] }, { values: ['7'] }]);
    expect(hanging).to.have.property('error').that.contains('external.metrics.k8s.io');
    const startedAtMs = api.clock.monotonicMs();
    const all = readAll(
      api,
      Array.from({ length: 100 }, (_, place) => external(`hanging-${place}`)),
    );
    await elapseUntil(api.clock, 1000, async () => await settled(all));
    expect(api.clock.monotonicMs() - startedAtMs).to.be.within(40_000, 45_000);
    expect((await all).at(-1)).to.deep.equal({
      error: 'not read within 40s, in which all metrics of an HPA have to be read',
    });
  });

  it('throws when nobody waits any more', async () => {
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
