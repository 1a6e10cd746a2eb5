import { expect } from 'chai';
import fc from 'fast-check';
import type { NewObject } from '#simulator/objects/kubernetes-object.ts';
import { lowerBound, ObjectStore, StoreError, type StoreEvent } from '#simulator/objects/object-store.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('ObjectStore', () => {
  const clock = new ManualClock();
  const pod = (namespace: string, name: string, labels: Record<string, string> = {}): NewObject => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { namespace, name, labels },
  });
  const namesIn = (store: ObjectStore) =>
    store.list('pods').items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

  it('sets server-side fields of new objects', () => {
    const store = new ObjectStore(clock);
    const { metadata } = store.create('pods', pod('default', 'a'));
    expect(metadata.uid).to.match(/^[0-9a-f-]{36}$/);
    expect(metadata.creationTimestamp).to.equal('2026-01-01T00:00:00Z');
    expect(metadata.resourceVersion).to.equal(String(store.resourceVersion));
  });

  it('lists in the order of keys, not of names', () => {
    const store = new ObjectStore(clock);
    for (const [namespace, name] of [
      ['b', 'a'],
      ['a', 'x'],
      ['a-b', 'x'],
      ['a', 'b'],
    ] as const) {
      store.create('pods', pod(namespace, name));
    }
    expect(namesIn(store)).to.deep.equal(['a-b/x', 'a/b', 'a/x', 'b/a']);
  });

  it('counts one version for all resources', () => {
    const store = new ObjectStore(clock);
    const first = Number(store.create('pods', pod('default', 'a')).metadata.resourceVersion);
    const second = Number(store.create('configmaps', pod('default', 'a')).metadata.resourceVersion);
    store.delete('pods', 'default', 'a');
    expect([second, store.resourceVersion]).to.deep.equal([first + 1, first + 2]);
  });

  it('preserves UID and creation time in an update', () => {
    const store = new ObjectStore(clock);
    const before = store.create('pods', pod('default', 'a'));
    const after = store.update('pods', pod('default', 'a', { app: 'x' }));
    expect(after.metadata.uid).to.equal(before.metadata.uid);
    expect(after.metadata.labels).to.deep.equal({ app: 'x' });
    expect(after.metadata.resourceVersion).not.to.equal(before.metadata.resourceVersion);
  });

  it('rejects conflicts', () => {
    const store = new ObjectStore(clock);
    const old = store.create('pods', pod('default', 'a'));
    store.update('pods', pod('default', 'a'));
    expect(() => store.create('pods', pod('default', 'a')))
      .to.throw(StoreError)
      .with.property('kind', 'AlreadyExists');
    expect(() => store.update('pods', old))
      .to.throw(StoreError)
      .with.property('kind', 'Conflict');
    expect(() => store.delete('pods', 'default', 'b'))
      .to.throw(StoreError)
      .with.property('kind', 'NotFound');
  });

  it('notifies listeners of each change with the previous state', () => {
    const store = new ObjectStore(clock);
    const events: StoreEvent[] = [];
    const subscription = store.subscribe((event) => events.push(event));
    const created = store.create('pods', pod('default', 'a'));
    const updated = store.update('pods', pod('default', 'a'));
    store.delete('pods', 'default', 'a');
    subscription[Symbol.dispose]();
    store.create('pods', pod('default', 'b'));
    expect(events.map(({ type, previous }) => [type, previous])).to.deep.equal([
      ['ADDED', undefined],
      ['MODIFIED', created],
      ['DELETED', updated],
    ]);
    expect(events[2]?.object.metadata.resourceVersion).to.equal(String(events[2]?.resourceVersion));
  });

  it('returns a snapshot as it was listed', () => {
    const store = new ObjectStore(clock);
    store.create('pods', pod('default', 'a'));
    const listed = store.list('pods');
    store.create('pods', pod('default', 'b'));
    expect(store.snapshotAt('pods', listed.resourceVersion)).to.equal(listed);
    expect(listed.items).to.have.length(1);
    expect(store.snapshotAt('pods', store.resourceVersion)).to.equal(undefined);
  });

  it('replays the changes of one resource since a version', () => {
    const store = new ObjectStore(clock);
    const { resourceVersion } = store.create('pods', pod('default', 'a')).metadata;
    store.create('configmaps', pod('default', 'x'));
    store.create('pods', pod('default', 'b'));
    const names = store
      .eventsSince('pods', Number(resourceVersion))
      ?.map(({ object }) => object.metadata.name);
    expect(names).to.deep.equal(['b']);
    expect(store.eventsSince('pods', store.resourceVersion)).to.deep.equal([]);
  });

  it('evicts the oldest changes, and all changes in a compaction', () => {
    const store = new ObjectStore(clock, { historyLimit: 2 });
    for (let index = 0; index < 6; index++) store.create('pods', pod('default', `p${index}`));
    expect(store.eventsSince('pods', 1)).to.equal(undefined);
    expect(store.eventsSince('pods', store.resourceVersion - 2)).to.have.length(2);
    store.compact();
    expect(store.eventsSince('pods', store.resourceVersion - 1)).to.equal(undefined);
    expect(store.eventsSince('pods', store.resourceVersion)).to.deep.equal([]);
  });
});

describe('lowerBound', () => {
  it('finds the same as a search from the start', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.nat(50), (numbers, limit) => {
        const sorted = numbers.toSorted((left, right) => left - right);
        const found = sorted.findIndex((number) => number >= limit);
        expect(lowerBound(sorted, (number) => number >= limit)).to.equal(found < 0 ? sorted.length : found);
      }),
    );
  });
});
