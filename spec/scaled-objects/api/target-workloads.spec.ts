import { expect } from 'chai';
import { isWorkload, targetName } from '#lib/scaled-objects/api/target-workloads.ts';

const target = (apiVersion: string, kind: string) => ({
  namespace: 'default',
  apiVersion,
  kind,
  name: 'web',
});

describe('isWorkload', () => {
  for (const [apiVersion, kind, is] of [
    ['apps/v1', 'Deployment', true],
    ['apps/v1', 'StatefulSet', true],
    ['apps/v1', 'ReplicaSet', false],
    ['apps/v1beta1', 'Deployment', false],
    ['apps/v1', 'toString', false],
  ] as const)
    it(`${is ? 'follows' : 'does not follow'} ${kind} of ${apiVersion}`, () => {
      expect(isWorkload(target(apiVersion, kind))).to.equal(is);
    });
});

describe('targetName', () => {
  it('has kind, namespace and name', () => {
    expect(targetName(target('apps/v1', 'Deployment'))).to.equal('Deployment default/web');
  });
});
