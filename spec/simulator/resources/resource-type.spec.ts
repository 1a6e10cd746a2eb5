import { expect } from 'chai';
import { compareVersions } from '#simulator/resources/resource-type.ts';

describe('compareVersions', () => {
  it('prefers as Kubernetes does', () => {
    const ordered = [
      'v10',
      'v2',
      'v1',
      'v11beta2',
      'v10beta3',
      'v3beta1',
      'v12alpha1',
      'v11alpha2',
      'foo1',
      'foo10',
    ];
    expect([...ordered].reverse().sort(compareVersions)).to.deep.equal(ordered);
  });
});
