import { expect } from 'chai';
import fc from 'fast-check';
import { LabelledSet, MetricStore, type StoredExternalMetric } from '#lib/collection/metric-store.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

const EVERYTHING = parseLabelSelector('');

describe('MetricStore', () => {
  it('serves the external metrics of several owners, each in its namespace, ignoring case', () => {
    const store = new MetricStore();
    store.put('a', { external: [external({ namespace: 'one', identity: 'a' })] });
    store.put('b', { external: [external({ namespace: 'two', identity: 'b', value: '7' })] });
    expect(store.metrics()).to.deep.equal(['s0-Queue']);
    const values = store.values('two', { metric: 'S0-QUEUE', selector: EVERYTHING });
    expect(values?.map(({ metric, value }) => [metric, value])).to.deep.equal([['s0-Queue', '7']]);
    expect(store.values('three', { metric: 's0-queue', selector: EVERYTHING })).to.deep.equal([]);
    expect(store.values('one', { metric: 'other', selector: EVERYTHING })).to.equal(undefined);
  });

  it('counts shared samples once, and selects by labels', () => {
    const store = new MetricStore();
    store.put('a', { external: [external({ identity: 'same' })] });
    store.put('b', { external: [external({ identity: 'same' })] });
    expect(store.values('one', { metric: 's0-queue', selector: EVERYTHING })).to.have.lengthOf(1);
    store.put('c', { external: [{ ...external({ identity: 'same' }), values: () => [] }] }); // has no values yet
    expect(store.values('one', { metric: 's0-queue', selector: EVERYTHING })).to.have.lengthOf(1);
    const selector = parseLabelSelector('of=another');
    expect(store.values('one', { metric: 's0-queue', selector })).to.deep.equal([]);
  });

  it('reads no other value than those that a selector may match, and those that get the label from their source', () => {
    const store = new MetricStore();
    const read: string[] = [];
    const put = (name: string, labels: Readonly<Record<string, string>>) => {
      const values = () => {
        read.push(name);
        return ['two', 'three'].map((of) => ({ value: of, takenAtMs: 0, sourceLabels: { of } }));
      };
      store.put(name, { external: [{ ...external({ identity: name }), labels, values }] });
    };
    const found = (selector: string) => {
      read.length = 0;
      const values = store.values('one', { metric: 's0-queue', selector: parseLabelSelector(selector) });
      return [read, values?.map(({ value, labels }) => `${value} of ${labels?.of}`)];
    };
    put('one', { of: 'one' });
    put('two', { of: 'two' });
    const ofTwo = ['two of two', 'three of two'];
    expect(found('of=two')).to.deep.equal([['two'], ofTwo]);
    put('any', {});
    expect(found('of=two')).to.deep.equal([
      ['two', 'any'],
      [...ofTwo, 'two of two'],
    ]);
    expect(found('of notin (one,three)')).to.deep.equal([
      ['two', 'any'],
      [...ofTwo, 'two of two'],
    ]);
    expect(found('!of')).to.deep.equal([['any'], []]);
  });

  it('serves both kinds of metrics of one owner, and reports later changes', () => {
    const store = new MetricStore();
    expect([store.metrics(), store.objects.metrics()]).to.deep.equal([[], []]);
    const rate = {
      ...{ resource: 'pods', name: 'rate', namespace: 'one', isNamespaced: true, labels: {} },
      values: () => [],
    };
    store.put('a', { external: [external({ name: 'b' })], objects: [rate] });
    expect(store.metrics()).to.deep.equal(['b']);
    expect(store.objects.metrics().map(({ metric }) => metric)).to.deep.equal(['rate']);
    store.put('c', { external: [external({ name: 'c' }), external({ name: 'a' })] });
    expect(store.metrics()).to.deep.equal(['a', 'b', 'c']);
    store.remove('a');
    expect([store.metrics(), store.objects.metrics()]).to.deep.equal([['a', 'c'], []]);
  });

  it('removes metrics that an owner no longer has', () => {
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
      values: (isSelected: (object: { readonly name: string }) => boolean) =>
        names
          .map((name) => ({ object: { name }, value: labels.of, takenAtMs: 0 }))
          .filter(({ object }) => isSelected(object)),
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
    store.put('c', { objects: [objects({}, 'web-4')] } as never);
    expect(found({ metricSelector: parseLabelSelector('of=b') })).to.deep.equal(['web-1 b', 'web-3 b']);
  });

  it('lists the metrics of objects, sorted without duplicates, in the same array until they change', () => {
    const store = new MetricStore();
    const of = (resource: string, name: string, isNamespaced = true) => ({
      ...{ resource, name, isNamespaced, namespace: isNamespaced ? 'one' : '', labels: {} },
      values: () => [],
    });
    store.put('a', { objects: [of('nodes', 'load', false), of('pods', 'rate')] });
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

  it('omits objects with unknown labels from selections by label', () => {
    const store = new MetricStore();
    const existing = [
      { name: 'bare', labels: undefined },
      { name: 'empty', labels: {} },
      { name: 'web', labels: { app: 'web' } },
    ];
    const rate = {
      ...{ resource: 'pods', name: 'rate', namespace: 'one', isNamespaced: true, labels: {} },
      values: (isSelected: (object: (typeof existing)[number]) => boolean) =>
        existing.filter(isSelected).map(({ name }) => ({ object: { name }, value: '1', takenAtMs: 0 })),
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

  it('passes on why no object has a value, and not that some have none', () => {
    const store = new MetricStore();
    const stored = (name: string, values: readonly string[]) => ({
      ...{ resource: 'pods', name, namespace: 'one', isNamespaced: true, labels: {} },
      values: () => values.map((of) => ({ object: { name: of }, value: '1', takenAtMs: 0 })),
    });
    const failing = { ...stored('rate', []), failure: () => new Error('refused') };
    store.put('a', { objects: [failing] } as never);
    const query = { resource: 'pods', metric: 'rate', namespace: 'one', metricSelector: EVERYTHING };
    const found = (name?: string) =>
      store.objects.values({ ...query, name, labelSelector: EVERYTHING })?.map(({ object }) => object.name);
    for (const name of [undefined, 'web-1']) expect(() => found(name)).to.throw('refused');
    store.put('b', { objects: [stored('rate', ['web-1'])] } as never);
    expect(found()).to.deep.equal(['web-1']);
    store.remove('a');
    store.put('b', { objects: [stored('rate', [])] } as never);
    expect([found(), found('web-1')]).to.deep.equal([[], undefined]);
  });

  it('passes on the error of a value', () => {
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

type Labels = Readonly<Record<string, string>>;

describe('LabelledSet', () => {
  const value = fc.constantFrom('a', 'b', '');
  const labels: fc.Arbitrary<Labels> = fc.record({ k: value, l: value }, { requiredKeys: [] });
  const text = fc.constantFrom(
    '',
    'k=a',
    'k==b',
    'k in (a,b)',
    'k in (b)',
    'k!=a',
    'k',
    '!l',
    'k=a,l=b',
    'm=a',
  );

  it('finds all candidates of a selector in order, after any additions and deletions', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(labels, fc.boolean())),
        labels,
        text,
        (members, further, selectorText) => {
          const set = new LabelledSet<{ readonly labels: Labels }>();
          const added = members.map(([of, stays]) => ({ member: { labels: of }, stays }));
          for (const { member } of added) set.add(member);
          for (const { member, stays } of added) if (!stays) set.delete(member);
          const left = added.filter(({ stays }) => stays).map(({ member }) => member);
          expect([...set]).to.deep.equal(left);
          expect(set.size).to.equal(left.length);
          const selector = parseLabelSelector(selectorText);
          const matching = (among: Iterable<{ readonly labels: Labels }>) =>
            [...among].filter((one) => selector.matches({ ...further, ...one.labels }));
          expect(matching(set.candidates(selector))).to.deep.equal(matching(left));
        },
      ),
    );
  });

  it('offers one of a thousand by a label that all have', () => {
    const set = new LabelledSet<{ readonly labels: Labels }>();
    for (let index = 0; index < 1000; index++)
      set.add({ labels: { type: 'prometheus', queue: `q${index}` } });
    for (const member of [...set].slice(500)) set.delete(member);
    for (const expected of ['queue=q7', 'queue==q7', 'queue in (q7)']) {
      const candidates = [...set.candidates(parseLabelSelector(`type=prometheus,${expected}`))];
      expect(candidates.map((one) => one.labels)).to.deep.equal([{ type: 'prometheus', queue: 'q7' }]);
    }
  });

  it('lists the remaining metrics only, however many were added and removed', () => {
    const set = new LabelledSet<{ readonly labels: Labels }>();
    const selector = parseLabelSelector('queue=q7');
    for (let round = 0; round < 3; round++) {
      const members = Array.from({ length: 10 }, (_, index) => ({ labels: { queue: `q${index}` } }));
      for (const member of members) set.add(member);
      expect([...set.candidates(selector)]).to.have.length(1);
      for (const member of members.slice(round)) set.delete(member);
      for (const member of members) set.delete(member);
      expect([...set.candidates(selector)]).to.deep.equal([]);
    }
  });

  it('counts a member once, however often it is added and deleted', () => {
    const set = new LabelledSet<{ readonly labels: Labels }>();
    const [member, other] = [{ labels: { k: 'a' } }, { labels: { l: 'a' } }];
    set.add(member);
    set.add(member);
    set.add(other);
    const selector = parseLabelSelector('k=b');
    expect([...set.candidates(selector)]).to.deep.equal([member, other]); // the other may get the label later
    set.delete(other);
    set.delete(other);
    expect([...set.candidates(selector)]).to.deep.equal([]);
  });
});
