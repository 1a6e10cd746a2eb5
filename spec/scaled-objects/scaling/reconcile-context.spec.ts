import { expect } from 'chai';
import { ScaledObjectStates } from '#lib/scaled-objects/scaling/reconcile-context.ts';

describe('ScaledObjectStates', () => {
  it('has an object as it was written last, until the informer has that version', () => {
    const states = new ScaledObjectStates();
    const object = (resourceVersion: string) =>
      ({ metadata: { name: 'web', uid: 'a', resourceVersion }, spec: {} }) as never;
    const written = object('10');
    states.record('default/web', written);
    expect(states.latest('default/web', object('9'))).to.equal(written);
    const shown = object('10');
    expect(states.latest('default/web', shown)).to.equal(shown);
    expect(states.latest('default/web', undefined)).to.equal(undefined);
  });

  it('discards the state of a deleted object if a new one has its name', () => {
    const states = new ScaledObjectStates();
    const object = (uid: string) =>
      ({ metadata: { name: 'web', uid, resourceVersion: '10' }, spec: {} }) as never;
    states.latest('default/web', object('a'));
    Object.assign(states.of('default/web'), {
      lastActiveAtMs: 7,
      startedGeneration: 1,
    });
    states.latest('default/web', object('a'));
    expect(states.of('default/web').lastActiveAtMs).to.equal(7);
    states.latest('default/web', object('b'));
    const { lastActiveAtMs, startedGeneration } = states.of('default/web');
    expect([lastActiveAtMs, startedGeneration]).to.deep.equal([undefined, undefined]);
  });
});
