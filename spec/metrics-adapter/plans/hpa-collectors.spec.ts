import { expect } from 'chai';
import { z } from 'zod';
import { Collection } from '#lib/collection/collection.ts';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { readScaledHpa, type ScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import type { MetricCollector } from '#lib/metrics-adapter/collectors/metric-collector.ts';
import { HpaCollectors } from '#lib/metrics-adapter/plans/hpa-collectors.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { externalMetric, type HpaInput, objectMetric, readHpaObject } from '#spec/support/scaled-hpas.ts';

const KEY = 'default/web';
const signal = new AbortController().signal;
const SERVICE = { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true };

describe('HpaCollectors', () => {
  it('restarts only the collectors that changed', async () => {
    const system = setUp();
    const metrics = ['a', 'b'].map((name) => externalMetric(name, { type: 'counting', query: name }));
    await system.apply({ metrics });
    await system.clock.advance(0);
    expect(system.requested).to.deep.equal(['a', 'b']);
    await system.apply({
      metrics: [metrics[0] ?? {}, externalMetric('b', { type: 'counting', query: 'c' })],
    });
    await system.clock.advance(0);
    expect(system.requested).to.deep.equal(['a', 'b', 'c']);
    expect([...system.collection.reports()].map(({ collector }) => collector.query.key)).to.deep.equal([
      'a',
      'c',
    ]);
  });

  it('yields to other work before each HPA', async () => {
    const system = setUp();
    const loops = () => performance.nodeTiming.uvMetricsInfo.loopCount;
    const before = loops();
    const metrics = [externalMetric('a', { type: 'counting', query: 'a' })];
    await Promise.all(Array.from({ length: 5 }, () => system.apply({ metrics })));
    expect(loops() - before).to.be.at.least(5);
  });

  it('ends all of them with the HPA', async () => {
    const system = setUp();
    await system.apply({ metrics: [externalMetric('a', { type: 'counting', query: 'a' })] });
    await system.apply(undefined);
    expect(system.collection.queryCount).to.equal(0);
    expect(system.collectors.collected.size).to.equal(0);
  });

  it('collects 15,000 metrics of a namespace, and those of a further HPA once there is space', async () => {
    const system = setUp();
    const each = 100;
    const hpa = (name: string): HpaInput => ({
      name,
      metrics: Array.from({ length: each }, (_, index) =>
        externalMetric(`m${index}`, { type: 'counting', query: `${name}-${index}` }),
      ),
    });
    const key = (index: number) => `default/web-${index}`;
    const fitting = 15_000 / each;
    for (let index = 0; index < fitting; index++) await system.apply(hpa(`web-${index}`), key(index));
    expect(system.problems).to.deep.equal([]);
    expect(system.collection.queryCount).to.equal(15_000);
    expect(await system.apply(hpa('late'), key(fitting))).to.deep.equal({ requeueAfterMs: 60_000 });
    expect(system.problems).to.deep.equal([
      ': The HPAs of the namespace have more than 15000 metrics to collect, so those of this HPA are not collected',
    ]);
    expect(system.collection.queryCount).to.equal(15_000);
    await system.apply(undefined, key(0));
    expect(await system.apply(hpa('late'), key(fitting))).to.deep.equal({});
    expect(system.collection.queryCount).to.equal(15_000);
    expect(system.collectors.collected.get(key(fitting))?.problems).to.deep.equal([]);
  });

  it('reports an HPA of which the metrics are left out', async () => {
    const system = setUp();
    await system.apply({ metrics: Array.from({ length: 501 }, (_, index) => externalMetric(`m${index}`)) });
    expect(system.problems).to.deep.equal([': the HPA has 501 metrics, more than 500']);
  });

  it('reports a problem when it begins, and again only when it changes', async () => {
    const system = setUp();
    const good = externalMetric('good', { type: 'counting', query: 'good' });
    const bad = externalMetric('bad', { type: 'counting' });
    for (let time = 0; time < 3; time++) await system.apply({ metrics: [good, bad] });
    expect(system.problems).to.deep.equal(['External/bad: no query']);
    expect(system.collection.queryCount).to.equal(1);
    await system.apply({ metrics: [good] });
    await system.apply({ metrics: [good, bad] });
    expect(system.problems).to.deep.equal(['External/bad: no query', 'External/bad: no query']);
  });

  it('reports a further problem beside a persistent one', async () => {
    const system = setUp();
    const metrics = ['bad', 'worse'].map((name) => externalMetric(name, { type: 'counting' }));
    await system.apply({ metrics: metrics.slice(0, 1) });
    await system.apply({ metrics });
    expect(system.problems).to.deep.equal(['External/bad: no query', 'External/worse: no query']);
  });

  it('does not report problems of annotations that no metric needs', async () => {
    const system = setUp();
    const annotations = { 'metric-config.external.gooood.counting/query': 'good' };
    await system.apply({
      annotations,
      metrics: [externalMetric('good', { type: 'counting', query: 'good' })],
    });
    expect(system.problems).to.deep.equal([]);
    expect(system.collectors.collected.get(KEY)?.problems[0]?.metric).to.equal('External/gooood');
  });

  it('reports a misspelled name once', async () => {
    const system = setUp();
    const annotations = { 'metric-config.external.gooood.counting/query': 'good' };
    const metrics = [externalMetric('good')];
    for (let time = 0; time < 3; time++) await system.apply({ annotations, metrics });
    expect(system.problems).to.deep.equal([
      'External/gooood: Annotations configure External/gooood, which no metric of the HPA uses; the HPA uses External/good, which nothing collects',
    ]);
  });

  it('discovers the resource of a metric’s object, and retries where none is served', async () => {
    const system = setUp();
    const annotations = { 'metric-config.object.a.counting/query': 'a' };
    const served = objectMetric('a', { kind: 'Service', name: 'web' });
    expect(await system.apply({ annotations, metrics: [served] })).to.deep.equal({ requeueAfterMs: 60_000 });
    expect(system.collectors.collected.get(KEY)?.metrics[0]?.resource).to.equal(SERVICE);
    const unserved = objectMetric('a', { apiVersion: 'x/v1', kind: 'Y', name: 'z' });
    expect(await system.apply({ annotations, metrics: [unserved] })).to.deep.equal({
      requeueAfterMs: 60_000,
    });
    expect(system.problems).to.deep.equal(['Object/a: The API server does not serve Y of x/v1']);
  });

  it('evicts the labels of an object once an HPA has no metric of it', async () => {
    const system = setUp();
    const annotations = { 'metric-config.object.a.counting/query': 'a' };
    const of = (name: string) => ({ annotations, metrics: [objectMetric('a', { kind: 'Service', name })] });
    await system.apply(of('web'));
    await system.apply(of('web'));
    expect(system.retainedLabels).to.deep.equal([]);
    await system.apply(of('shop'));
    expect(system.retainedLabels).to.deep.equal([['shop']]);
    await system.apply({ metrics: [] });
    expect(system.retainedLabels).to.deep.equal([['shop'], []]);
  });

  it('ignores metrics with an unknown collector, and nothing else, if so configured', async () => {
    const annotations = { 'metric-config.external.a.influx/query': 'q' };
    const metrics = [externalMetric('a'), externalMetric('b', { type: 'counting' })];
    for (const ignoresUnknown of [false, true]) {
      const system = setUp({ ignoresUnknown });
      await system.apply({ annotations, metrics });
      const [last, ...more] = [...system.problems].reverse();
      expect(last).to.equal('External/b: no query');
      expect(more).to.have.length(ignoresUnknown ? 0 : 1);
    }
  });

  it('lets values expire after three intervals, and at the configured maximum', async () => {
    const system = setUp({ metricsTtlMs: 40_000 });
    const annotations = { 'metric-config.external.a.counting/interval': '10s' };
    const metrics = ['a', 'b'].map((name) => externalMetric(name, { type: 'counting', query: name }));
    await system.apply({ annotations, metrics });
    expect([...system.collection.reports()].map(({ collector }) => collector.validForMs)).to.deep.equal([
      30_000, 40_000,
    ]);
  });
});

describe('HpaCollectors, with a collector whose configuration changes', () => {
  it('reconciles every cached HPA, until it is unsubscribed', async () => {
    const system = setUp();
    await system.apply({ metrics: [externalMetric('a', { type: 'counting', query: 'a' })] });
    const [, changes] = system.controller.watches;
    const keys: string[] = [];
    const end = changes?.onChange(({ key }) => keys.push(key), { replay: true });
    await changes?.synced(signal);
    expect(keys).to.deep.equal([]);
    system.change();
    expect(keys).to.deep.equal([KEY]);
    end?.();
    system.change();
    expect(keys).to.deep.equal([KEY]);
  });
});

function setUp({ metricsTtlMs = 900_000, ignoresUnknown = false } = {}) {
  const clock = new ManualClock();
  const [requested, problems, changes]: [string[], string[], (() => void)[]] = [[], [], []];
  const retainedLabels: string[][] = [];
  const collection = new Collection({
    clock,
    logger: new RecordingLogger(),
    random: () => 0,
    timeoutMs: 10_000,
    onPolled: () => {},
  });
  const counting: MetricCollector = {
    name: 'counting',
    legacyMetrics: [],
    types: ['External', 'Object'],
    settings: z.object({}),
    onChange: (listener) => changes.push(listener),
    queryOf: ({ metric, config }) => {
      const key = metric.matchLabels.query ?? config?.settings.get('query')?.value;
      if (!key) throw new Error('no query');
      return {
        key,
        description: key,
        run: async () => {
          requested.push(key);
          return [{ value: 1, labels: {} }];
        },
      };
    },
  };
  let hpa: ScaledHpa | undefined;
  const collectors = new HpaCollectors({
    hpas: { find: () => hpa, onChange: () => () => {}, synced: async () => {} },
    collection,
    collectors: [counting],
    share: new EventLoopShare(clock),
    objectLabels: {
      refresh: async () => {},
      retainOnly: (objects) => retainedLabels.push([...objects].map(({ name }) => name)),
    },
    mapper: { find: async ({ kind }) => (kind === 'Service' ? SERVICE : undefined) },
    defaultIntervalMs: 60_000,
    ...{ metricsTtlMs, ignoresUnknown },
    onProblem: (_, { metric, error }) => problems.push(`${metric}: ${error.message}`),
    onChange: () => {},
  });
  const controller = collectors.controller();
  return {
    ...{ clock, collection, collectors, controller, requested, problems, retainedLabels },
    change: () => {
      for (const report of changes) report();
    },
    async apply(input: HpaInput | undefined, key = KEY) {
      hpa = input && readScaledHpa(readHpaObject(input));
      return await controller.reconcile(key, signal);
    },
  };
}
