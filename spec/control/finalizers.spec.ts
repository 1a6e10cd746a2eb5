import { expect } from 'chai';
import { addFinalizer, removeFinalizer } from '#lib/control/finalizers.ts';
import { type SimulatedApi, startSimulatedApi, type Widget } from '#spec/support/simulated-api.ts';

const NAME = { namespace: 'default', name: 'a' };

describe('finalizers', () => {
  let served: SimulatedApi;
  let widget: Widget;

  beforeEach(async () => {
    served = await startSimulatedApi();
    widget = await served.widgets.create({ metadata: { ...NAME, finalizers: ['other.example.com/x'] } });
  });

  afterEach(async () => await served[Symbol.asyncDispose]());

  const options = () => ({ client: served.widgets, clock: served.clock });
  const stored = async () => (await served.widgets.find(NAME))?.metadata;

  describe('addFinalizer', () => {
    it("adds ours to others', once", async () => {
      const after = await addFinalizer(widget, 'spec.example.com/mine', options());
      expect(after?.metadata.finalizers).to.deep.equal(['other.example.com/x', 'spec.example.com/mine']);
      expect(await addFinalizer(after ?? widget, 'spec.example.com/mine', options())).to.equal(after);
      expect(await stored()).to.deep.equal(after?.metadata);
    });

    it('preserves finalizers that were added since the object was read', async () => {
      const body = { metadata: { finalizers: ['other.example.com/x', 'late.example.com/y'] } };
      await served.widgets.patch(NAME, { type: 'merge', body });
      const adding = addFinalizer(widget, 'spec.example.com/mine', options());
      await passConflict(adding);
      expect((await stored())?.finalizers).to.deep.equal([
        'other.example.com/x',
        'late.example.com/y',
        'spec.example.com/mine',
      ]);
    });

    it('leaves another object alone that has the name now', async () => {
      await removeFinalizer(widget, 'other.example.com/x', options());
      await served.widgets.delete(NAME);
      await served.widgets.create({ metadata: NAME });
      const adding = addFinalizer(widget, 'spec.example.com/mine', options());
      await passConflict(adding);
      expect(await adding).to.equal(undefined);
      expect(await stored()).not.to.have.property('finalizers');
    });
  });

  describe('removeFinalizer', () => {
    it('removes a deleted object with its last finalizer', async () => {
      const mine = await addFinalizer(widget, 'spec.example.com/mine', options());
      await served.widgets.delete(NAME);
      const dying = await served.widgets.get(NAME);
      expect(dying.metadata.deletionTimestamp).to.be.a('string');
      await removeFinalizer(dying, 'spec.example.com/mine', options());
      expect((await stored())?.finalizers).to.deep.equal(['other.example.com/x']);
      const removing = removeFinalizer(mine ?? widget, 'other.example.com/x', options());
      await passConflict(removing);
      expect(await stored()).to.equal(undefined);
    });

    it('does nothing without the finalizer, or for a deleted object', async () => {
      expect(await removeFinalizer(widget, 'spec.example.com/mine', options())).to.equal(widget);
      await served.widgets.patch(NAME, { type: 'merge', body: { metadata: { finalizers: [] } } });
      await served.widgets.delete(NAME);
      expect(await removeFinalizer(widget, 'other.example.com/x', options())).to.equal(undefined);
      expect(await addFinalizer(widget, 'x.example.com/y', options())).to.equal(undefined);
    });
  });

  /** Advances past the short delay after a conflict. */
  async function passConflict(work: Promise<unknown>): Promise<void> {
    let isOver = false;
    void work
      .catch(() => {})
      .finally(() => {
        isOver = true;
      });
    while (!isOver) await served.clock.advance(1);
  }
});
