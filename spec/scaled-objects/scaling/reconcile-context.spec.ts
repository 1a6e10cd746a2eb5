import { expect } from 'chai';
import { LoopMemories } from '#lib/scaled-objects/scaling/reconcile-context.ts';

describe('LoopMemories', () => {
  it('knows an object as it was written last, until the informer has a later version', () => {
    const memories = new LoopMemories();
    const object = (resourceVersion: string, finalizers: readonly string[] = [], uid = 'a') =>
      ({ metadata: { name: 'web', uid, resourceVersion, finalizers }, spec: {} }) as never;
    const written = object('10');
    memories.of('default/web').latest = written;
    expect(memories.latest('default/web', object('9'))).to.equal(written);
    const later = object('11');
    expect(memories.latest('default/web', later)).to.equal(later);
    expect(memories.latest('default/web', undefined)).to.equal(undefined);
    // The API server lets an object go with its last finalizer in no version of its own.
    expect(memories.latest('default/web', object('10', ['finalizer.keda.sh']))).to.equal(written);
    const another = object('9', [], 'b');
    expect(memories.latest('default/web', another)).to.equal(another);
  });

  it('keeps nothing of an object for another that has its name now: it has a cooldown of its own', () => {
    const memories = new LoopMemories();
    const object = (uid: string) =>
      ({ metadata: { name: 'web', uid, resourceVersion: '10' }, spec: {} }) as never;
    Object.assign(memories.of('default/web'), {
      latest: object('a'),
      lastActiveAtMs: 7,
      startedGeneration: 1,
    });
    memories.latest('default/web', object('a'));
    expect(memories.of('default/web').lastActiveAtMs).to.equal(7);
    memories.latest('default/web', object('b'));
    const { lastActiveAtMs, startedGeneration } = memories.of('default/web');
    expect([lastActiveAtMs, startedGeneration]).to.deep.equal([undefined, undefined]);
  });
});
