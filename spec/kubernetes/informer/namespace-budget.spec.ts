import { expect } from 'chai';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { NamespaceBudget } from '#lib/kubernetes/informer/namespace-budget.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { eventually } from '#spec/support/eventually.ts';
import { startListingServer } from '#spec/support/listing-server.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

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

describe('NamespaceBudget.findFitting', () => {
  it('returns reduced objects that fit by now, round robin by namespace, and none that cannot be read', () => {
    const budget = new NamespaceBudget<Sized>(BUDGET);
    for (const namespace of ['a', 'b'])
      for (const [name, bytes] of Object.entries({ large: 90, second: 60, third: 40, fourth: 11 }))
        budget.fit(`${namespace}/${name}`, { bytes });
    expect(budget.findFitting()).to.equal(undefined);
    budget.delete('c/absent');
    for (const namespace of ['a', 'b']) budget.delete(`${namespace}/large`);
    expect([1, 2, 3].map(() => budget.findFitting())).to.deep.equal(['a/second', 'b/second', 'a/second']);
    budget.leaveReduced('a/second');
    expect([1, 2].map(() => budget.findFitting())).to.deep.equal(['b/second', 'a/third']);
    expect(budget.fit('a/third', { bytes: 40 })).to.deep.equal({ bytes: 40 });
    budget.delete('b/second');
    expect([1, 2].map(() => budget.findFitting())).to.deep.equal(['b/third', 'a/fourth']);
    expect(budget.fit('b/third', { bytes: 101 })).to.deep.equal({ bytes: 1 });
    for (const key of ['a/fourth', 'b/fourth']) budget.fit(key, { bytes: 11 });
    expect(budget.findFitting()).to.equal(undefined);
  });
});

describe('Informer with a budget', () => {
  it('reads a reduced object again, once other objects of its namespace have been deleted or have shrunk', async () => {
    await using server = await startSimulatedApiServer();
    const { client: api, clock } = server;
    await using client = new ApiClient({ access: await server.access(), clock, userAgent: 'spec/1' });
    const path = (namespace: string, name = '') => `/api/v1/namespaces/${namespace}/configmaps/${name}`;
    const create = async (namespace: string, name: string, bytes: number) => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { bytes: `${bytes}` } };
      expect((await api.post(path(namespace).slice(0, -1), body)).status).to.equal(201);
    };
    await using informer = new Informer<Sized>({
      ...{ client, clock, logger: new RecordingLogger(), budget: BUDGET },
      collection: { path: '/api/v1/configmaps', labelSelector: '!absent', fieldSelector: 'metadata.name!=x' },
      transform: (value) => ({ bytes: Number(propertyOf(propertyOf(value, 'data'), 'bytes')) }),
    });
    const cached = (...keys: string[]) => keys.map((key) => informer.find(key)?.bytes);
    await create('default', 'a', 60);
    await create('default', 'b', 50);
    await create('kube-system', 'b', 100);
    informer.start();
    await informer.synced();
    await create('default', 'c', 45);
    await create('default', 'd', 30);
    await eventually(() => informer.find('default/d') !== undefined);
    expect(cached('default/a', 'default/b', 'default/c', 'default/d')).to.deep.equal([60, 1, 1, 30]);
    await api.patch(path('default', 'a'), 'merge', { data: { bytes: '19' } }); // `c` would fit as well
    await eventually(() => informer.find('default/b')?.bytes === 50);
    expect(cached('default/a', 'default/c', 'default/d')).to.deep.equal([19, 1, 30]);
    await api.patch(path('default', 'c'), 'merge', { data: { bytes: '96' } });
    await eventually(() => informer.find('default/d')?.bytes === 30);
    for (const name of ['a', 'b']) await api.delete(path('default', name));
    await eventually(() => informer.find('default/b') === undefined);
    expect(cached('default/c', 'default/d')).to.deep.equal([1, 30]);
    await api.delete(path('default', 'd'));
    await eventually(() => informer.find('default/c')?.bytes === 96);
    expect(cached('kube-system/b')).to.deep.equal([100]);
    await create('default', 'e', 4); // the watch continues
    await eventually(() => informer.find('default/e')?.bytes === 4);
    await create('default', 'f', 5);
    await eventually(() => informer.find('default/f')?.bytes === 1);
    const sleepers = clock.sleeperCount;
    server.cluster.apiServer.setFaults(
      forRequests({ resource: 'configmaps', verb: 'list' }, refuseRequests({ code: 500, reason: 'Refused' })),
    );
    await api.delete(path('default', 'c'));
    await eventually(() => informer.find('default/c') === undefined && clock.sleeperCount > sleepers);
    expect(cached('default/f')).to.deep.equal([1]);
    server.cluster.apiServer.setFaults();
    await eventually(async () => {
      await clock.advance(1000);
      return informer.find('default/f')?.bytes === 5;
    });
  });

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
