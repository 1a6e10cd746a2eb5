import { expect } from 'chai';
import { MetricStore, type StoredExternalMetric } from '#lib/collection/metric-store.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

const EVERYTHING = parseLabelSelector('');

describe('MetricStore', () => {
  it('serves the external metrics of several owners, each in its namespace, whatever case a name is asked in', () => {
    const store = new MetricStore();
    store.put('a', { external: [external({ namespace: 'one', identity: 'a' })] });
    store.put('b', { external: [external({ namespace: 'two', identity: 'b', value: '7' })] });
    expect(store.metrics()).to.deep.equal(['s0-Queue']);
    const values = store.values('two', { metric: 'S0-QUEUE', selector: EVERYTHING });
    expect(values?.map(({ metric, value }) => [metric, value])).to.deep.equal([['s0-Queue', '7']]);
    expect(store.values('three', { metric: 's0-queue', selector: EVERYTHING })).to.deep.equal([]);
    expect(store.values('one', { metric: 'other', selector: EVERYTHING })).to.equal(undefined);
  });

  it('counts what several ask for once, and selects by labels', () => {
    const store = new MetricStore();
    store.put('a', { external: [external({ identity: 'same' })] });
    store.put('b', { external: [external({ identity: 'same' })] });
    expect(store.values('one', { metric: 's0-queue', selector: EVERYTHING })).to.have.lengthOf(1);
    store.put('c', { external: [{ ...external({ identity: 'same' }), values: () => [] }] }); // has heard nothing yet
    expect(store.values('one', { metric: 's0-queue', selector: EVERYTHING })).to.have.lengthOf(1);
    const selector = parseLabelSelector('of=another');
    expect(store.values('one', { metric: 's0-queue', selector })).to.deep.equal([]);
  });

  it('reads no other value than those that a selector may match', () => {
    const store = new MetricStore();
    const read: string[] = [];
    for (const label of ['one', 'two']) {
      const values = () => {
        read.push(label);
        return [{ value: '1', takenAtMs: 0 }];
      };
      store.put(label, { external: [{ ...external({ identity: label }), labels: { of: label }, values }] });
    }
    expect(
      store.values('one', { metric: 's0-queue', selector: parseLabelSelector('of=two') }),
    ).to.have.lengthOf(1);
    expect(read).to.deep.equal(['two']);
  });

  it('forgets what an owner does not have served any more', () => {
    const store = new MetricStore();
    store.put('a', { external: [external({})] });
    store.put('a', { external: [external({ name: 'later' })] });
    expect(store.metrics()).to.deep.equal(['later']);
    store.remove('a');
    expect(store.metrics()).to.deep.equal([]);
    expect(store.values('one', { metric: 'later', selector: EVERYTHING })).to.equal(undefined);
  });

  it('serves the values of objects that selectors match, by name or labels, one of each, in order', () => {
    const store = new MetricStore();
    const objects = (labels: Readonly<Record<string, string>>, ...names: readonly string[]) => ({
      ...{ resource: 'pods', name: 'rate', namespace: 'one', isNamespaced: true, labels },
      values: (isWanted: (object: { readonly name: string }) => boolean) =>
        names
          .map((name) => ({ object: { name }, value: labels.of, takenAtMs: 0 }))
          .filter(({ object }) => isWanted(object)),
    });
    store.put('a', { objects: [objects({ of: 'a' }, 'web-2', 'web-1')] } as never);
    store.put('b', { objects: [objects({ of: 'b' }, 'web-1', 'web-3')] } as never);
    const query = { resource: 'pods', metric: 'rate', namespace: 'one', labelSelector: EVERYTHING };
    const found = (more: object) =>
      store.objects
        .values({ ...query, metricSelector: EVERYTHING, ...more } as never)
        ?.map(({ object, value }) => `${object.name} ${value}`);
    expect(found({})).to.deep.equal(['web-1 a', 'web-2 a', 'web-3 b']);
    expect(found({ metricSelector: parseLabelSelector('of=b') })).to.deep.equal(['web-1 b', 'web-3 b']);
    expect(found({ name: 'web-3' })).to.deep.equal(['web-3 b']);
    expect(found({ name: 'web-4' })).to.equal(undefined);
    expect(found({ namespace: 'two' })).to.deep.equal([]);
    expect(found({ metric: 'other' })).to.equal(undefined);
  });

  it('tells which metrics of objects there are, each once, sorted, and the same ones until that changes', () => {
    const store = new MetricStore();
    const of = (resource: string, name: string, isNamespaced = true) => ({
      ...{ resource, name, isNamespaced, namespace: isNamespaced ? 'one' : '', labels: {} },
      values: () => [],
    });
    store.put('a', { objects: [of('pods', 'rate'), of('nodes', 'load', false)] });
    store.put('b', { objects: [of('pods', 'rate'), of('deployments.apps', 'rate')] });
    const found = store.objects.metrics();
    expect(found).to.deep.equal([
      { resource: 'deployments.apps', metric: 'rate', isNamespaced: true },
      { resource: 'nodes', metric: 'load', isNamespaced: false },
      { resource: 'pods', metric: 'rate', isNamespaced: true },
    ]);
    expect(store.objects.metrics()).to.equal(found);
    store.remove('b');
    expect(store.objects.metrics().map(({ resource }) => resource)).to.deep.equal(['nodes', 'pods']);
  });

  it('leaves out objects whose labels nobody knows where labels are asked for', () => {
    const store = new MetricStore();
    const known = [
      { name: 'bare', labels: undefined },
      { name: 'empty', labels: {} },
      { name: 'web', labels: { app: 'web' } },
    ];
    const rate = {
      ...{ resource: 'pods', name: 'rate', namespace: 'one', isNamespaced: true, labels: {} },
      values: (isWanted: (object: (typeof known)[number]) => boolean) =>
        known.filter(isWanted).map(({ name }) => ({ object: { name }, value: '1', takenAtMs: 0 })),
    };
    store.put('a', { objects: [rate] } as never);
    const query = { resource: 'pods', metric: 'rate', namespace: 'one', metricSelector: EVERYTHING };
    const found = (selector: string, name?: string) =>
      store.objects
        .values({ ...query, name, labelSelector: parseLabelSelector(selector) })
        ?.map(({ object }) => object.name);
    expect(found('')).to.deep.equal(['bare', 'empty', 'web']);
    expect(found('app=web')).to.deep.equal(['web']);
    expect(found('!app')).to.deep.equal(['empty']);
    expect(found('app=web', 'bare')).to.deep.equal(['bare']);
  });

  it('passes on why a value cannot be told', () => {
    const store = new MetricStore();
    const values = () => {
      throw new Error('metric:s0-queue encountered error');
    };
    store.put('a', { external: [{ ...external({}), values }] });
    expect(() => store.values('one', { metric: 's0-queue', selector: EVERYTHING })).to.throw(
      'metric:s0-queue encountered error',
    );
  });
});

function external({
  namespace = 'one',
  name = 's0-Queue',
  identity = 'one',
  value = '1',
}): StoredExternalMetric {
  return { namespace, name, identity, labels: { of: 'one' }, values: () => [{ value, takenAtMs: 0 }] };
}
