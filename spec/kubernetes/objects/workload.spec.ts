import { expect } from 'chai';
import { readWorkload, WORKLOADS } from '#lib/kubernetes/objects/workload.ts';

describe('WORKLOADS', () => {
  const object = {
    metadata: { name: 'web', uid: 'u', resourceVersion: '7' },
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } } },
    status: { replicas: 2, readyReplicas: 1 },
  };
  const scale = {
    ...{ uid: 'u', resourceVersion: '7', specReplicas: 3, statusReplicas: 2, selector: 'app=web' },
  };
  const workload = { replicas: 3, readyReplicas: 1, containers: [] };

  it('are decoded to the parts that their users need', () => {
    const decoded = (...needs: readonly ('scale' | 'workload')[][]) =>
      WORKLOADS.Deployment.decoder(needs.map((parts) => ({ parts })))(object);
    expect(decoded()).to.deep.equal({});
    expect(decoded(['scale'])).to.deep.equal({ scale });
    expect(decoded(['workload'])).to.deep.equal({ workload });
    expect(decoded(['scale'], ['workload'])).to.deep.equal({ scale, workload });
  });

  it('are decoded without a scale whose selector is too long to be cached', () => {
    const decode = WORKLOADS.Deployment.decoder([{ parts: ['scale', 'workload'] }]);
    const labels = Array.from({ length: 64 }, (_, index) => [`l-${100 + index}`, 'v'.repeat(57)]);
    const selectorOf = (length: number) =>
      Object.fromEntries([...labels, ['l-163', 'v'.repeat(length - 4038)]]);
    const decoded = (length: number) =>
      decode({ ...object, spec: { replicas: 3, selector: { matchLabels: selectorOf(length) } } });
    expect(decoded(4096).scale?.selector).to.have.lengthOf(4096);
    expect(decoded(4097)).to.deep.equal({ workload });
  });
});

describe('readWorkload', () => {
  it('returns replicas, and requested or limited resources of each container', () => {
    const containers = [
      { name: 'app', resources: { requests: { cpu: '100m' }, limits: { memory: '1Gi', 'x/y': 1 } } },
      { name: 'none', resources: { requests: { cpu: '0' }, limits: { memory: 0 } } },
      { name: 'bare' },
    ];
    const spec = { replicas: 0, template: { spec: { containers } } };
    expect(readWorkload({ spec, status: { readyReplicas: 3 } })).to.deep.equal({
      ...{ replicas: 0, readyReplicas: 3 },
      containers: [
        { name: 'app', resources: ['cpu', 'memory', 'x/y'] },
        ...['none', 'bare'].map((name) => ({ name, resources: [] })),
      ],
    });
  });

  it('refuses containers and amounts of other types', () => {
    const wrong = (containers: unknown) => () =>
      readWorkload({ spec: { template: { spec: { containers } } } });
    expect(wrong([{}])).to.throw('Cannot read a workload: spec.template.spec.containers.0.name: ');
    expect(wrong([{ name: 'a', resources: { limits: { cpu: { toString: 1 } } } }])).to.throw(
      'Cannot read a workload: spec.template.spec.containers.0.resources.limits.cpu: ',
    );
  });

  it('refuses more than a thousand containers', () => {
    const withContainers = (length: number) => () =>
      readWorkload({ spec: { template: { spec: { containers: Array(length).fill({ name: 'a' }) } } } });
    expect(withContainers(1000)().containers).to.have.lengthOf(1000);
    expect(withContainers(1001)).to.throw('Cannot read a workload: more than 1000 containers');
  });

  it('has one desired replica by default, and none ready', () => {
    for (const one of [{}, { spec: { replicas: null, template: {} }, status: {} }])
      expect(readWorkload(one)).to.deep.equal({ replicas: 1, readyReplicas: 0, containers: [] });
  });
});
