import { expect } from 'chai';
import { scaledObjectController } from '#lib/scaled-objects/loop/scaled-object-controller.ts';
import { LoopMemories } from '#lib/scaled-objects/scaling/reconcile-context.ts';

describe('scaledObjectController', () => {
  it('remembers nothing of an object that is gone, so that one of its name begins with its own cooldown', async () => {
    const memories = new LoopMemories();
    Object.assign(memories.of('default/web'), { startedGeneration: 1, lastActiveAtMs: 7 });
    Object.assign(memories.of('default/other'), { lastActiveAtMs: 8 });
    const controller = scaledObjectController({
      ...{ objects: { find: () => undefined }, others: [], plans: { changed: {} }, memories },
    } as never);
    expect(await controller.reconcile('default/web', new AbortController().signal)).to.deep.equal({});
    const { startedGeneration, lastActiveAtMs } = memories.of('default/web');
    expect([startedGeneration, lastActiveAtMs]).to.deep.equal([undefined, undefined]);
    expect(memories.of('default/other').lastActiveAtMs).to.equal(8);
  });
});
