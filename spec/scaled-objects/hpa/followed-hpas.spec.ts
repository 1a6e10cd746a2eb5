import { expect } from 'chai';
import { ownersOf } from '#lib/scaled-objects/hpa/followed-hpas.ts';
import type { ManagedHpa } from '#lib/scaled-objects/hpa/hpa-client.ts';

describe('ownersOf', () => {
  const owner = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'web', uid: 'u' };
  const hpa = (resourceVersion: string, scalingActive: string, more: object = {}): ManagedHpa => ({
    metadata: {
      ...{ name: 'keda-hpa-web', namespace: 'n', uid: 'h', resourceVersion },
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, ...more },
    status: {
      conditions: [
        { type: 'AbleToScale', status: resourceVersion },
        { type: 'ScalingActive', status: scalingActive },
      ],
    },
  });
  const owners = (previous: ManagedHpa | undefined, current: ManagedHpa | undefined) => [
    ...ownersOf({ key: 'n/keda-hpa-web', previous, current }),
  ];

  it('names the object whose HPA comes, goes, is changed, or scales no longer', () => {
    expect(owners(undefined, hpa('1', 'True'))).to.deep.equal(['n/web']);
    expect(owners(hpa('1', 'True'), undefined)).to.deep.equal(['n/web']);
    expect(owners(hpa('1', 'True'), hpa('2', 'False'))).to.deep.equal(['n/web']);
    expect(owners(hpa('1', 'True'), hpa('2', 'True', { maxReplicas: 3 }))).to.deep.equal(['n/web']);
  });

  it("names nobody where an HPA has only looked again, nor for one that is nobody's", () => {
    expect(owners(hpa('1', 'True'), hpa('2', 'True'))).to.deep.equal([]);
    expect(owners(undefined, { metadata: { name: 'own', namespace: 'n' } })).to.deep.equal([]);
  });
});
