import { expect } from 'chai';
import { MetricFailure } from '#lib/hpa/proposals/metric-failure.ts';
import { proposeByAverage, proposeByValue } from '#lib/hpa/proposals/proposal-by-total.ts';
import { builtPod } from '../built-world.ts';

const input = (total: bigint, target: bigint) => ({
  total,
  target,
  tolerances: { scaleDown: 0.1, scaleUp: 0.1 },
});

describe('proposeByValue', () => {
  const pods = [
    builtPod('a'),
    builtPod('b', { isDeleting: true }),
    builtPod('c', { ready: { status: 'False', changedAtMs: 0 } }),
    builtPod('d', { phase: 'Succeeded' }),
  ];

  it('multiplies the pods that run and are ready, deleted ones among them', () => {
    const proposal = proposeByValue(input(150n, 100n), { specReplicas: 4, pods });
    expect(proposal).to.include({ replicas: 3, readyPods: 2, ratio: 1.5, current: 150n });
  });

  it('needs no pods where it stays, or comes from nothing', () => {
    expect(proposeByValue(input(109n, 100n), { specReplicas: 4, pods: [] })).to.include({ replicas: 4 });
    expect(proposeByValue(input(209n, 100n), { specReplicas: 0, pods: [] })).to.include({ replicas: 3 });
    expect(() => proposeByValue(input(209n, 100n), { specReplicas: 4, pods: [] })).to.throw(
      MetricFailure,
      'unable to calculate ready pods: no pods returned by selector while calculating replica count',
    );
  });

  it('proposes the most that can be counted in place of more, but from zero', () => {
    const [ready, large] = [[builtPod('a')], input(3n * 10n ** 9n, 1n)];
    const proposal = proposeByValue(large, { specReplicas: 1, pods: ready });
    expect(proposal).to.include({ replicas: 2 ** 31 - 1, readyPods: 1 });

    expect(() => proposeByValue(large, { specReplicas: 0, pods: [] }))
      .to.throw(MetricFailure, 'the metric asks for 3000000000 replicas')
      .that.includes({ isRefusal: true });
  });
});

describe('proposeByAverage', () => {
  it('divides the value by its target, and shows the mean rounded up', () => {
    const proposal = proposeByAverage(input(250n, 100n), { statusReplicas: 4, isCapped: false });
    expect(proposal).to.include({ replicas: 3, current: 63n, ratio: 0.625 });
  });

  it('keeps the replicas that there are while the mean is tolerable', () => {
    const proposal = proposeByAverage(input(330n, 100n), { statusReplicas: 3, isCapped: false });
    expect(proposal).to.include({ replicas: 3, why: 'within-tolerance' });
  });

  it('shows the largest integer, at which sums end, for the mean', () => {
    const largest = input(2n ** 63n - 1n, 1000n);
    for (const statusReplicas of [0, 1, 3])
      expect(proposeByAverage(largest, { statusReplicas, isCapped: true })).to.include({
        ...{ current: 2n ** 63n - 1n, replicas: 2 ** 31 - 1 },
      });
    const below = proposeByAverage(input(2n ** 62n, 1000n), { statusReplicas: 2, isCapped: true });
    expect(below.current).to.equal(2n ** 61n);
  });

  it('has no mean over no replicas', () => {
    for (const total of [0n, 250n]) {
      const proposal = proposeByAverage(input(total, 100n), { statusReplicas: 0, isCapped: false });
      expect(proposal).to.include({ replicas: total === 0n ? 0 : 3, current: undefined });
    }
  });

  it('caps what an external metric asks for, and refuses it of an object', () => {
    const large = input(3n * 10n ** 9n, 1n);
    expect(proposeByAverage(large, { statusReplicas: 1, isCapped: true }).replicas).to.equal(2 ** 31 - 1);
    expect(() => proposeByAverage(large, { statusReplicas: 1, isCapped: false })).to.throw(MetricFailure);
    expect(() =>
      proposeByAverage(input(-3n * 10n ** 9n, 1n), { statusReplicas: 1, isCapped: true }),
    ).to.throw(MetricFailure);
  });
});
