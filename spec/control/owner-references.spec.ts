import { expect } from 'chai';
import { controllerOf, controllerReference } from '#lib/control/owner-references.ts';

const OWNER = { apiVersion: 'spec.example.com/v1', kind: 'Widget', metadata: { name: 'a', uid: 'u1' } };
const OTHER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: 'u2' };

describe('controllerReference', () => {
  it('names the owner by all that garbage collection needs', () => {
    expect(controllerReference(OWNER)).to.deep.equal({
      apiVersion: 'spec.example.com/v1',
      kind: 'Widget',
      name: 'a',
      uid: 'u1',
      controller: true,
      blockOwnerDeletion: true,
    });
  });

  it('refers to no owner that was never stored', () => {
    expect(() => controllerReference({ ...OWNER, metadata: { name: 'a' } })).to.throw(
      'Cannot refer to Widget a as an owner: no UID',
    );
  });
});

describe('controllerOf', () => {
  it('finds the one owner that controls, and none where there are only others', () => {
    const ours = controllerReference(OWNER);
    expect(controllerOf({ metadata: { name: 'x', ownerReferences: [OTHER, ours] } })).to.deep.equal(ours);
    expect(controllerOf({ metadata: { name: 'x', ownerReferences: [OTHER] } })).to.equal(undefined);
    expect(controllerOf({ metadata: { name: 'x' } })).to.equal(undefined);
  });
});
