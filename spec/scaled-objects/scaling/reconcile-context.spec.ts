import { expect } from 'chai';
import { ScaledObjectStates } from '#lib/scaled-objects/scaling/reconcile-context.ts';

describe('ScaledObjectStates', () => {
  it('has an object as it was written last, until the informer has that version', () => {
    const memories = new ScaledObjectStates();
    const object = (resourceVersion: string) =>
      ({ metadata: { name: 'web', uid: 'a', resourceVersion }, spec: {} }) as never;
    const written = object('10');
    memories.record('default/web', written);
    expect(memories.latest('default/web', object('9'))).to.equal(written);
    const shown = object('10');
    expect(memories.latest('default/web', shown)).to.equal(shown);
    expect(memories.latest('default/web', undefined)).to.equal(undefined);
  });

  it('keeps nothing of an object for another that has its name now: it has a cooldown of its own', () => {
    const memories = new ScaledObjectStates();
    const object = (uid: string) =>
      ({ metadata: { name: 'web', uid, resourceVersion: '10' }, spec: {} }) as never;
    memories.latest('default/web', object('a'));
    Object.assign(memories.of('default/web'), {
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
