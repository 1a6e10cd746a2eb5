import { expect } from 'chai';
import { TargetPins } from '#lib/control/target-pins.ts';

describe('TargetPins', () => {
  const web = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

  it('has no target pinned by itself', () => {
    expect(new TargetPins().isPinned('default', web)).to.equal(false);
  });

  it('has a target pinned while one of its sources pins it, whenever that was added', () => {
    const pins = new TargetPins();
    const { isPinned } = pins;
    const pinned = new Set(['default/web']);
    pins.add(() => false);
    pins.add((namespace, { name }) => pinned.has(`${namespace}/${name}`));
    expect([isPinned('default', web), isPinned('other', web)]).to.deep.equal([true, false]);
    pinned.clear();
    expect(isPinned('default', web)).to.equal(false);
  });
});
