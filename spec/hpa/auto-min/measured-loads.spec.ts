import { expect } from 'chai';
import { measuredLoads, metricGoals, ratioOnMinimum } from '#lib/hpa/auto-min/measured-loads.ts';
import type { Explanation } from '#lib/hpa/decision/decision.ts';
import type { HpaSpec, MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';

const average = { type: 'AverageValue', averageValue: '500m' };
const METRICS: readonly MetricSpec[] = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'app', target: average } },
  { type: 'Pods', pods: { metric: { name: 'items' }, target: average } },
  {
    type: 'Object',
    object: {
      metric: { name: 'items', selector: { matchLabels: { a: 'b' } } },
      describedObject: { kind: 'Service', name: 'web' },
      target: { type: 'Value', value: '2k' },
    },
  },
  { type: 'External', external: { metric: { name: 'queue' }, target: average } },
];

function specOf(metrics: readonly MetricSpec[]): HpaSpec {
  return { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 10, metrics };
}

function explained(ratios: readonly (number | undefined)[], currentReplicas = 2): Explanation {
  return {
    ...{ atMs: 0, step: 'metrics', minReplicas: 2, maxReplicas: 10, desiredReplicas: 2, currentReplicas },
    metrics: ratios.map((ratio) => ({
      ...{ type: '', name: '', target: undefined, current: undefined },
      ...(ratio === undefined
        ? { failure: { reason: 'r', message: 'm', error: 'e', isRefusal: false } }
        : {
            proposal: {
              ...{ replicas: 2, ratio, why: 'off-target' as const },
              tolerances: { scaleUp: 0.1, scaleDown: 0.1 },
            },
          }),
    })),
  };
}

describe('measuredLoads', () => {
  it('gives loads of each kind of metric in the unit of its target', () => {
    const loads = measuredLoads(specOf(METRICS), explained([0.5, 0.5, 0.5, 0.5, 0.5]));
    expect(loads).to.deep.equal([
      { metric: 'Resource cpu utilization', load: 25 },
      { metric: 'ContainerResource cpu app average', load: 0.25 },
      { metric: 'Pods items average', load: 0.25 },
      { metric: 'Object items Service/web{"matchLabels":{"a":"b"}} value', load: 1000 },
      { metric: 'External queue average', load: 0.25 },
    ]);
  });

  it('leaves out what could not be read: unknown is not zero', () => {
    const [first, second] = METRICS;
    if (!first || !second) throw new Error('there are metrics');
    const loads = measuredLoads(specOf([first, second]), explained([undefined, 0.2]));
    expect(loads.map(({ metric }) => metric)).to.deep.equal(['ContainerResource cpu app average']);
    expect(measuredLoads(specOf(METRICS), { ...explained([1]), currentReplicas: undefined })).to.deep.equal(
      [],
    );
  });

  it('has no goal where the target is zero or no number', () => {
    const target = (averageValue: string) => ({ type: 'AverageValue', averageValue });
    const specs = ['0', 'much', '1'].map(
      (text): MetricSpec => ({ type: 'Pods', pods: { metric: { name: 'items' }, target: target(text) } }),
    );
    expect(metricGoals(specOf(specs)).map((goal) => goal?.target)).to.deep.equal([undefined, undefined, 1]);
  });
});

describe('ratioOnMinimum', () => {
  const on = (ratio: number, currentReplicas: number) =>
    ratioOnMinimum(ratio, { currentReplicas, minReplicas: 2 });

  it('is the ratio on the minimum, and wherever there is more load than the target', () => {
    expect([on(0.4, 2), on(1.3, 2), on(1.3, 8)]).to.deep.equal([0.4, 1.3, 1.3]);
  });

  it('counts a load below the target for the replicas that carried it, up to the target', () => {
    expect(on(0.4, 4)).to.equal(0.8); // a window holds four replicas that two could nearly be
    expect(on(0.9, 8)).to.equal(1);
  });
});
