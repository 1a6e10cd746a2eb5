import { expect } from 'chai';
import {
  requestsOfPods,
  usageOfContainers,
  usageOfPods,
  valuesOfPods,
} from '#lib/hpa/decision/pod-resources.ts';
import { MetricFailure } from '#lib/hpa/decision/replica-calculator.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { builtPod } from '#spec/hpa/built-inputs.ts';

interface Requested {
  readonly container?: string;
  readonly podLevelResources?: boolean;
}

function requestOf(
  pod: Partial<ScaledPod>,
  { container, podLevelResources = true }: Requested = {},
): bigint | undefined {
  const part = { resource: 'cpu', container, podLevelResources };
  return requestsOfPods([builtPod('a', pod)], part).get('a');
}
const cpu = (name: string, amount: string) => ({ name, requests: { cpu: amount } });
const init = (name: string, amount: string, isSidecar: boolean) => ({ ...cpu(name, amount), isSidecar });

describe('requestsOfPods', () => {
  const containers = [cpu('app', '100m'), cpu('side', '7m')];

  it('sums containers and sidecars, each rounded up, without other init containers', () => {
    const initContainers = [init('proxy', '10m', true), init('setup', '2', false)];
    expect(requestOf({ containers, initContainers })).to.equal(117n);
    expect(requestOf({ containers: [cpu('a', '1n'), cpu('b', '1n')] })).to.equal(2n);
    expect(requestOf({ containers: [cpu('a', '0')] })).to.equal(0n);
  });

  it('returns the request of one container or sidecar', () => {
    const initContainers = [init('proxy', '10m', true)];
    expect(requestOf({ containers, initContainers }, { container: 'side' })).to.equal(7n);
    expect(requestOf({ containers, initContainers }, { container: 'proxy' })).to.equal(10n);
  });

  it('fails when a pod has no container of the name, or only a finished init container', () => {
    const initContainers = [init('setup', '2', false)];
    for (const container of ['absent', 'setup'])
      expect(() => requestOf({ containers, initContainers }, { container })).to.throw(
        MetricFailure,
        `container ${container} not found in Pod a`,
      );
  });

  it('fails when a relevant container has no request', () => {
    const lacking = [cpu('app', '100m'), { name: 'side', requests: {} }];
    expect(() => requestOf({ containers: lacking })).to.throw(
      MetricFailure,
      'missing request for cpu in container side of Pod a',
    );
    expect(requestOf({ containers: lacking }, { container: 'app' })).to.equal(100n);
  });

  it('returns the pod-level request and the overhead', () => {
    const podRequests = { cpu: '500m' };
    expect(requestOf({ containers, podRequests })).to.equal(500n);
    expect(requestOf({ containers, podRequests, overhead: { cpu: '100m' } })).to.equal(600n);
    expect(requestOf({ containers, podRequests }, { podLevelResources: false })).to.equal(107n);
    expect(requestOf({ containers, podRequests }, { container: 'app' })).to.equal(100n);
    expect(requestOf({ containers, podRequests: { storage: '1' } })).to.equal(107n);
  });

  it('computes the maximum need when pod-level requests lack the resource', () => {
    const podRequests = { memory: '1Gi' };
    const lacking = [cpu('app', '100m'), { name: 'side', requests: {} }];
    expect(requestOf({ containers: lacking, podRequests })).to.equal(100n);
    const starting = [
      init('first', '300m', false),
      init('proxy', '10m', true),
      init('second', '300m', false),
    ];
    expect(requestOf({ containers, podRequests, initContainers: starting })).to.equal(310n);
    expect(requestOf({ containers, podRequests, initContainers: starting.slice(0, 2) })).to.equal(300n);
    expect(requestOf({ containers, podRequests, initContainers: starting.slice(1, 2) })).to.equal(117n);
    expect(requestOf({ containers: [cpu('a', '1n'), cpu('b', '1n')], podRequests })).to.equal(1n);
    expect(() => requestOf({ containers: [{ name: 'app', requests: {} }], podRequests })).to.throw(
      MetricFailure,
      'missing pod-level request for cpu in Pod a',
    );
  });
});

const usage = (pod: string, containers: Readonly<Record<string, Readonly<Record<string, string>>>>) => ({
  pod,
  takenAtMs: 5,
  windowMs: 7,
  containers: Object.entries(containers).map(([name, used]) => ({ name, usage: used })),
});

describe('usageOfPods', () => {
  it('sums containers, each rounded up', () => {
    const samples = usageOfPods([usage('a', { app: { cpu: '1n' }, side: { cpu: '1500u' } })], 'cpu');
    expect([...samples]).to.deep.equal([['a', { thousandths: 3n, takenAtMs: 5, windowMs: 7 }]]);
  });

  it('has no sample for a pod with a container of unknown usage, or without containers', () => {
    const usages = [usage('a', { app: { cpu: '1' }, side: { memory: '1' } }), usage('b', {})];
    expect([...usageOfPods(usages, 'cpu')]).to.deep.equal([]);
  });
});

describe('usageOfContainers', () => {
  it('returns the usage of one container if known', () => {
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
