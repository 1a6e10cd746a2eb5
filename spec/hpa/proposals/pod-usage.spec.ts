import { expect } from 'chai';
import { usageOfContainers, usageOfPods, valuesOfPods } from '#lib/hpa/proposals/pod-usage.ts';

const usage = (pod: string, containers: Readonly<Record<string, Readonly<Record<string, string>>>>) => ({
  pod,
  takenAtMs: 5,
  windowMs: 7,
  containers: Object.entries(containers).map(([name, used]) => ({ name, usage: used })),
});

describe('usageOfPods', () => {
  it('adds containers, each rounded up', () => {
    const samples = usageOfPods([usage('a', { app: { cpu: '1n' }, side: { cpu: '1500u' } })], 'cpu');
    expect([...samples]).to.deep.equal([['a', { thousandths: 3n, takenAtMs: 5, windowMs: 7 }]]);
  });

  it('has no sample of a pod of which a container is unknown, or which has none', () => {
    const usages = [usage('a', { app: { cpu: '1' }, side: { memory: '1' } }), usage('b', {})];
    expect([...usageOfPods(usages, 'cpu')]).to.deep.equal([]);
  });
});

describe('usageOfContainers', () => {
  it('takes one container, where the pod has it and its usage', () => {
    const usages = [
      usage('a', { app: { cpu: '1' }, side: { cpu: '2' } }),
      usage('b', { app: { cpu: '1' } }),
      usage('c', { side: { memory: '1' } }),
    ];
    const samples = usageOfContainers(usages, { resource: 'cpu', container: 'side' });
    expect([...samples].map(([pod, { thousandths }]) => [pod, thousandths])).to.deep.equal([['a', 2000n]]);
  });
});

describe('valuesOfPods', () => {
  it('rounds up', () => {
    const samples = valuesOfPods([{ pod: 'a', value: '1001u' }], 5);
    expect(samples.get('a')?.thousandths).to.equal(2n);
  });
});
