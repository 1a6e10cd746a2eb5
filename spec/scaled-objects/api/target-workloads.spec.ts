import { expect } from 'chai';
import { isWorkload, targetName, workloadOf } from '#lib/scaled-objects/api/target-workloads.ts';

const target = (apiVersion: string, kind: string) => ({
  namespace: 'default',
  apiVersion,
  kind,
  name: 'web',
});

describe('workloadOf', () => {
  it('keeps replicas, and of each container what it requests or is limited to', () => {
    const containers = [
      { name: 'app', resources: { requests: { cpu: '100m' }, limits: { memory: '1Gi', 'x/y': 1 } } },
      { name: 'none', resources: { requests: { cpu: '0' }, limits: { memory: 0 } } },
      { name: 'bare' },
      {},
    ];
    const spec = { replicas: 0, template: { spec: { containers } } };
    expect(workloadOf({ spec, status: { readyReplicas: 3 } })).to.deep.equal({
      ...{ replicas: 0, readyReplicas: 3 },
      containers: [
        { name: 'app', resources: ['cpu', 'memory', 'x/y'] },
        ...['none', 'bare', ''].map((name) => ({ name, resources: [] })),
      ],
    });
  });

  it('has one replica where nothing is said, of which none is ready', () => {
    for (const one of [{}, { spec: { replicas: null, template: {} }, status: {} }])
      expect(workloadOf(one)).to.deep.equal({ replicas: 1, readyReplicas: 0, containers: [] });
  });
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
  it('tells kind, namespace and name', () => {
    expect(targetName(target('apps/v1', 'Deployment'))).to.equal('Deployment default/web');
  });
});
