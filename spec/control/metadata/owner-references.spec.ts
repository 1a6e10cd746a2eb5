import { expect } from 'chai';
import {
  controllerOf,
  controllerReference,
  isControlledBy,
  withOwner,
  withoutOwner,
} from '#lib/control/metadata/owner-references.ts';

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
      'Cannot refer to Widget a as an owner: it has no UID',
    );
  });
});

describe('isControlledBy', () => {
  const owned = { metadata: { name: 'x', ownerReferences: [OTHER, controllerReference(OWNER)] } };

  it('goes by the UID of the one owner that controls', () => {
    expect(isControlledBy(owned, OWNER)).to.equal(true);
    expect(controllerOf(owned)?.name).to.equal('a');
    expect(isControlledBy(owned, { metadata: { name: 'a', uid: 'u9' } })).to.equal(false);
    expect(isControlledBy(owned, { metadata: { name: 'b', uid: 'u2' } })).to.equal(false);
    expect(isControlledBy({ metadata: { name: 'x' } }, { metadata: { name: 'never stored' } })).to.equal(
      false,
    );
  });
});

describe('withOwner', () => {
  const mine = controllerReference(OWNER);

  it("adds ours to others' once, and brings it up to date", () => {
    const both = withOwner([OTHER], mine);
    expect(both).to.deep.equal([OTHER, mine]);
    expect(withOwner(both, { ...mine })).to.equal(both);
    expect(withOwner(both, { ...mine, apiVersion: 'spec.example.com/v2' })[1]).to.have.property(
      'apiVersion',
      'spec.example.com/v2',
    );
    expect(withoutOwner(both, 'u1')).to.deep.equal([OTHER]);
    expect(withoutOwner(both, 'none')).to.equal(both);
  });

  it('controls nothing that another controls', () => {
    const theirs = { ...OTHER, controller: true };
    expect(() => withOwner([theirs], mine)).to.throw('Cannot control what ConfigMap b controls');
    expect(withOwner([theirs], OTHER)).to.deep.equal([OTHER]);
  });
});
