import { expect } from 'chai';
import fc from 'fast-check';
import type { Explanation } from '#lib/hpa/decision/decision.ts';
import {
  emptyWeek,
  type JudgementInput,
  judgeWeek,
  measuredLoads,
  metricGoals,
  ratioOnMinimum,
  type Week,
  withPeak,
} from '#lib/hpa/min-replicas/recommended-minimum.ts';
import type { HpaSpec, MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';

const TODAY = 20_000;
const CPU = 'Resource cpu utilization';
const WEIGHTS = [7, 6, 5, 4, 3, 2, 1];

/** @param loads of the complete days before today, the latest first */
function weekOf(
  loads: readonly (number | undefined)[],
  { metric = CPU, minReplicas = 10, week = emptyWeek(0) } = {},
): Week {
  return loads.reduce<Week>(
    (existing, load, index) =>
      load === undefined
        ? existing
        : withPeak(existing, metric, { day: TODAY - 1 - index, load, minReplicas }),
    week,
  );
}

function judged(week: Week, more: Partial<JudgementInput> = {}) {
  return judgeWeek({
    ...{ week, goals: [{ metric: CPU, target: 50 }], minReplicas: 10, maxReplicas: 100 },
    ...{ settings: { lowest: 1, highest: undefined }, weights: WEIGHTS, today: TODAY },
    ...more,
  });
}

describe('judgeWeek', () => {
  it('compares the weighted average of peaks with the target', () => {
    // (7×20 + 6×20 + … + 1×34) / 28 = 20.5, and 10 × 20.5 / 50 = 4.1
    const week = weekOf([20, 20, 20, 20, 20, 20, 34]);
    expect(judged(week)).to.deep.equal({
      ...{ kind: 'change', from: 10, to: 5, metric: CPU, mean: 20.5, target: 50, weights: WEIGHTS },
      peaks: [20, 20, 20, 20, 20, 20, 34],
    });
  });

  it('weights the latest day most', () => {
    expect(judged(weekOf([10, 40, 40]))).to.deep.include({ to: 6 }); // 28.3 in the mean
    expect(judged(weekOf([40, 40, 10]))).to.deep.include({ to: 7 }); // 31.7
  });

  it('excludes days without data, and requires three days', () => {
    expect(judged(weekOf([20, undefined, 20, undefined, undefined, undefined, 20]))).to.deep.include({
      to: 4,
    });
    const too = judged(weekOf([20, undefined, 20]));
    expect(too).to.deep.equal({
      kind: 'unknown',
      why: `${CPU} has data for 2 whole days, but 3 are required`,
    });
  });

  it('excludes the day of the first observation, and today', () => {
    const week = weekOf([20, 20, 20], { week: emptyWeek(TODAY - 3) });
    expect(judged(week).kind).to.equal('unknown');
    const today = withPeak(weekOf([20, 20]), CPU, { day: TODAY, load: 20, minReplicas: 10 });
    expect(judged(today).kind).to.equal('unknown');
  });

  it('uses the metric with the highest result, and recommends nothing while one is unknown', () => {
    const week = weekOf([40, 40, 40], { metric: 'other', week: weekOf([10, 10, 10]) });
    const goals = [
      { metric: CPU, target: 50 },
      { metric: 'other', target: 80 },
    ];
    expect(judged(week, { goals })).to.deep.include({ to: 5, metric: 'other' });
    expect(judged(weekOf([10, 10, 10]), { goals }).kind).to.equal('unknown');
    expect(judged(week, { goals: [undefined] }).kind).to.equal('unknown');
  });

  it('respects the bounds of the HPA, and raises only with an upper bound', () => {
    const idle = weekOf([1, 1, 1]);
    expect(judged(idle, { settings: { lowest: 3, highest: undefined } })).to.deep.include({ to: 3 });
    expect(judged(weekOf([0, 0, 0]))).to.deep.include({ to: 1 });
    const busy = weekOf([100, 100, 100]);
    expect(judged(busy).kind).to.equal('unchanged');
    expect(judged(idle, { settings: { lowest: 30, highest: undefined } }).kind).to.equal('unchanged');
    expect(judged(busy, { settings: { lowest: 1, highest: 15 } })).to.deep.include({ from: 10, to: 15 });
    expect(judged(busy, { settings: { lowest: 1, highest: 500 }, maxReplicas: 18 })).to.deep.include({
      to: 18,
    });
  });

  it('converts loads under another minReplicas', () => {
    // Ten replicas at 20 % have the same load as four at 50 %.
    expect(judged(weekOf([20, 20, 20]), { minReplicas: 4 }).kind).to.equal('unchanged');
    expect(judged(weekOf([20, 20, 20]), { minReplicas: 8 })).to.deep.include({ from: 8, to: 4 });
  });

  it('ignores minReplicas 0, and HPAs with more than 32 metrics', () => {
    expect(judged(weekOf([20, 20, 20]), { minReplicas: 0 }).kind).to.equal('unchanged');
    const goals = Array.from({ length: 1000 }, () => ({ metric: CPU, target: 50 }));
    expect(judged(weekOf([20, 20, 20]), { goals }).kind).to.equal('unknown');
  });

  it('explains why nothing is recommended or changed', () => {
    const week = weekOf([20, 20, 20]);
    const why = (more: Partial<JudgementInput>, of = week) => {
      const judgement = judged(of, more);
      return judgement.kind === 'change' ? `to ${judgement.to}` : `${judgement.kind}: ${judgement.why}`;
    };
    expect(why({ minReplicas: 0 })).to.equal('unchanged: the minimum is zero');
    expect(why({ goals: [] })).to.equal('unknown: the HPA has no metrics');
    const goals = Array.from({ length: 32 }, () => ({ metric: CPU, target: 50 }));
    expect(why({ goals })).to.equal('to 4');
    expect(why({ goals: [...goals, ...goals.slice(0, 1)] })).to.equal(
      'unknown: the HPA has more than 32 metrics',
    );
    expect(why({ goals: [{ metric: CPU, target: 20 }] })).to.equal(
      'unchanged: the load of the last week requires 10',
    );
    expect(why({ goals: [{ metric: CPU, target: 10 }] })).to.equal(
      'unchanged: the load of the last week requires 20, and the annotation autoscaling.stke.com/auto-min-replicas-highest, which allows raising minReplicas, is not set',
    );
    expect(why({ settings: { lowest: 30, highest: undefined } })).to.equal(
      'unchanged: the load of the last week requires 4, and the annotation autoscaling.stke.com/auto-min-replicas-highest, which allows raising minReplicas, is not set',
    );
    expect(why({ settings: { lowest: 30, highest: 10 } })).to.equal(
      'unchanged: the load of the last week requires 4',
    );
    expect(why({ goals: [undefined] })).to.match(/^unknown: /);
    expect(
      why({ goals: [{ metric: CPU, target: 1e-9 }], settings: { lowest: 1, highest: 2 ** 31 - 1 } }),
    ).to.equal('to 100');
  });

  it('finds the smallest minReplicas that carries the average load', () => {
    const loads = fc.array(fc.option(fc.double({ min: 0, max: 49, noNaN: true }), { nil: undefined }), {
      minLength: 7,
      maxLength: 7,
    });
    fc.assert(
      fc.property(loads, fc.integer({ min: 1, max: 1000 }), (days, minReplicas) => {
        const judgement = judged(weekOf(days, { minReplicas }), { minReplicas, maxReplicas: 5000 });
        if (judgement.kind !== 'change') return;
        const { to, mean } = judgement;
        expect(to).to.be.below(minReplicas);
        expect((mean * minReplicas) / to).to.be.at.most(50 + 1e-6);
        if (to > 1) expect((mean * minReplicas) / (to - 1)).to.be.above(50 - 1e-6);
      }),
    );
  });

  it('settles after its own recommendation while the load stays', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 100 }), fc.integer({ min: 1, max: 49 }), (minReplicas, load) => {
        const first = judged(weekOf([load, load, load], { minReplicas }), { minReplicas });
        if (first.kind !== 'change') return;
        const again = judged(weekOf([load, load, load], { minReplicas }), { minReplicas: first.to });
        expect(again.kind).to.equal('unchanged');
      }),
    );
  });
});

describe('withPeak', () => {
  const days = (week: Week) => week.peaks.get(CPU)?.map(({ day, load }) => [day - TODAY, load]);

  it('retains the peak of each day within a week, by age', () => {
    let week = emptyWeek(0);
    for (const [day, load] of [
      [-8, 11],
      [-7, 12],
      [7, 13], // a wrong clock
      [8, 14],
      [-1, 15],
    ] as const)
      week = { ...week, peaks: new Map([[CPU, [...(week.peaks.get(CPU) ?? []), peak(day, load)]]]) };
    week = withPeak(week, CPU, peak(0, 20));
    expect(days(week)).to.deep.equal([
      [-7, 12],
      [-1, 15],
      [0, 20],
      [7, 13],
    ]);
    expect(withPeak(week, CPU, peak(0, 20))).to.equal(week);
    expect(withPeak(week, CPU, peak(0, 19))).to.equal(week);
    expect(days(withPeak(week, CPU, peak(0, 21)))?.[2]).to.deep.equal([0, 21]);
  });

  it('compares loads under the same minReplicas', () => {
    const week = withPeak(emptyWeek(0), CPU, peak(0, 20)); // with ten replicas
    expect(withPeak(week, CPU, { day: TODAY, load: 99, minReplicas: 2 })).to.equal(week);
    expect(days(withPeak(week, CPU, { day: TODAY, load: 21, minReplicas: 10 }))).to.deep.equal([[0, 21]]);
  });

  const peak = (day: number, load: number) => ({ day: TODAY + day, load, minReplicas: 10 });
});

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
  it('returns loads of each kind of metric in the unit of its target', () => {
    const loads = measuredLoads(specOf(METRICS), explained([0.5, 0.5, 0.5, 0.5, 0.5]));
    expect(loads).to.deep.equal([
      { metric: 'Resource cpu utilization', load: 25 },
      { metric: 'ContainerResource cpu app average', load: 0.25 },
      { metric: 'Pods items average', load: 0.25 },
      { metric: 'Object items Service/web{"matchLabels":{"a":"b"}} value', load: 1000 },
      { metric: 'External queue average', load: 0.25 },
    ]);
  });

  it('excludes unread metrics: unknown is not zero', () => {
    const [first, second] = METRICS;
    if (!first || !second) throw new Error('there are metrics');
    const loads = measuredLoads(specOf([first, second]), explained([undefined, 0.2]));
    expect(loads.map(({ metric }) => metric)).to.deep.equal(['ContainerResource cpu app average']);
    expect(measuredLoads(specOf(METRICS), { ...explained([1]), currentReplicas: undefined })).to.deep.equal(
      [],
    );
  });

  it('has no goal for a target of zero or an invalid number', () => {
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

  it('is the ratio on minReplicas, and the ratio of the HPA above the target', () => {
    expect([on(0.4, 2), on(1.3, 2), on(1.3, 8)]).to.deep.equal([0.4, 1.3, 1.3]);
  });

  it('converts a load below the target to minReplicas, up to the target', () => {
    expect(on(0.4, 4)).to.equal(0.8); // a window with four replicas that two could nearly replace
    expect(on(0.9, 8)).to.equal(1);
  });
});
