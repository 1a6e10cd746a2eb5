import { expect } from 'chai';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { NamespaceBudget } from '#lib/kubernetes/informer/namespace-budget.ts';
import { eventually } from '#spec/support/eventually.ts';
import { startListingServer } from '#spec/support/listing-server.ts';

interface Sized {
  readonly bytes: number;
}

const BUDGET = { maxBytes: 100, sizeBytes: ({ bytes }: Sized) => bytes, reduce: () => ({ bytes: 1 }) };

describe('NamespaceBudget', () => {
  it('reduces what does not fit beside the other objects of its namespace', () => {
    const budget = new NamespaceBudget<Sized>(BUDGET);
    const cachedBytes = (key: string, bytes: number) => budget.fit(key, { bytes }).bytes;
    expect(cachedBytes('a/one', 60)).to.equal(60);
    expect(cachedBytes('a/two', 41)).to.equal(1);
    expect(cachedBytes('b/two', 100)).to.equal(100);
    expect(cachedBytes('a/three', 39)).to.equal(39);
    expect(cachedBytes('cluster-wide', 100)).to.equal(100);
  });

  it('counts an object once, by its last size, and not after its deletion', () => {
    const budget = new NamespaceBudget<Sized>(BUDGET);
    const cachedBytes = (key: string, bytes: number) => budget.fit(key, { bytes }).bytes;
    for (const bytes of [100, 60, 99, 60]) expect(cachedBytes('a/one', bytes)).to.equal(bytes);
    expect(cachedBytes('a/two', 41)).to.equal(1);
    budget.delete('a/one');
    budget.delete('a/one');
    expect(cachedBytes('a/two', 100)).to.equal(100);
  });
});

describe('Informer with a budget', () => {
  it('caches reduced what its namespace has no room for, as listed and as watched', async () => {
    const object = (key: string, version: number, bytes: number) => {
      const [namespace, name] = key.split('/');
      return { metadata: { namespace, name, resourceVersion: `${version}` }, bytes };
    };
    const items = [object('a/one', 1, 60), object('a/two', 2, 41), object('b/one', 3, 90)];
    const events = [
      { type: 'MODIFIED', object: object('a/one', 6, 99) },
      { type: 'ADDED', object: object('a/three', 7, 2) },
      { type: 'DELETED', object: object('a/one', 8, 99) },
      { type: 'MODIFIED', object: object('a/two', 9, 95) },
      { type: 'ADDED', object: object('z/end', 10, 1) },
    ];
    await using served = await startListingServer(
      JSON.stringify({ metadata: { resourceVersion: '5' }, items }),
      events.map((event) => `${JSON.stringify(event)}\n`).join(''),
    );
    const cached: string[] = [];
    await using informer = new Informer<Sized>({
      ...{ client: served.client, clock: served.clock, logger: served.logger, budget: BUDGET },
      collection: { path: '/apis/spec.example.com/v1/widgets' },
      transform: (value) => value as Sized,
    });
    informer.onChange(({ key, current }) => cached.push(`${key} ${current?.bytes}`));
    informer.start();
    await eventually(() => informer.find('z/end') !== undefined);
    expect(cached).to.deep.equal([
      ...['a/one 60', 'a/two 1', 'b/one 90'],
      ...['a/one 99', 'a/three 1', 'a/one undefined', 'a/two 95', 'z/end 1'],
    ]);
  });
});
