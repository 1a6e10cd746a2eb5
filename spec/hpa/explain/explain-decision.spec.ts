import { expect } from 'chai';
import fc from 'fast-check';
import { decide } from '#lib/hpa/decision/decide.ts';
import { DEFAULT_HPA_CONFIG, type DecisionInput } from '#lib/hpa/decision/decision-input.ts';
import type { ExplainedProposal, MetricExplanation } from '#lib/hpa/decision/evaluate-metrics.ts';
import { EMPTY_STATE } from '#lib/hpa/decision/scaling-state.ts';
import { explainDecision, explainMetric, metricThresholds } from '#lib/hpa/explain/explain-decision.ts';
import { parseThousandths } from '#lib/kubernetes/quantity.ts';
import { builtInput, builtPod, NOW_MS } from '#spec/hpa/built-inputs.ts';

type Changes = Parameters<typeof builtInput>[0];

const linesOf = (changes: Changes = {}): string[] =>
  explainDecision(decide(builtInput(changes)).explanation).split('\n');

const cpu = (amounts: Readonly<Record<string, string>>): DecisionInput['readings'][number] => ({
  podUsage: Object.entries(amounts).map(([pod, amount]) => ({
    ...{ pod, takenAtMs: NOW_MS - 20_000, windowMs: 30_000 },
    containers: [{ name: 'app', usage: { cpu: amount } }],
  })),
});
const metrics = [
  {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
  },
] as const;

describe('explainDecision', () => {
  it('explains the whole calculation', () => {
    const readings = [cpu({ 'web-0': '90m', 'web-1': '110m' })];
    const pods = [
      builtPod('web-0'),
      builtPod('web-1'),
      builtPod('web-2', { phase: 'Pending' }),
      builtPod('web-3', { isDeleting: true }),
    ];
    expect(linesOf({ spec: { metrics }, readings, pods })).to.deep.equal([
      '3 replicas, bounds 1 to 10: scales to 4',
      'cpu resource utilization (percentage of request): 100% (100m) of 50%, 20s old: proposes 4, the highest',
      '  ratio 2: outside the tolerance',
      '  counts 2 pods; excludes 1 not ready (web-2); 1 deleted or failed (web-3)',
      '  ratio 1.32 with assumed values of missing and unready pods',
      '  scales up above 55%, down below 45%',
      'stabilization: 4, as proposed (windows: up 0s, down 5m0s)',
      'limits: 4, within the limits',
    ]);
  });

  it('explains stabilization and policies', () => {
    const behavior = {
      scaleUp: {
        stabilizationWindowSeconds: 60,
        policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }],
      },
    };
    const memory = {
      recommendations: [{ replicas: 6, atMs: NOW_MS - 30_000 }],
      scaleUpEvents: [],
      scaleDownEvents: [],
    };
    expect(linesOf({ spec: { behavior }, memory, readings: [{ values: ['80'] }] }).slice(-4)).to.deep.equal([
      '  scales up above 11, down below 9',
      'stabilization: 6 instead of 8, because 6 was recommended 30s ago (windows: up 1m0s, down 5m0s)',
      'limits: 4 instead of 6: ScaleUpLimit, the desired replica count is increasing faster than the maximum scale rate',
      '  policy Pods 1 in 15s: from 3 at the start of the period to 4',
    ]);
  });

  it('explains the limit of the controller for scaling down', () => {
    const scaleDownLimit = { factor: 0.5, minimum: 3 };
    const config = { ...DEFAULT_HPA_CONFIG, downscaleStabilizationMs: 0, scaleDownLimit };
    const memory = { ...EMPTY_STATE, recommendations: [{ replicas: 8, atMs: NOW_MS - 1000 }] };
    const scale = { specReplicas: 8, statusReplicas: 8, selector: 'app=web' };
    expect(linesOf({ config, scale, memory, readings: [{ values: ['10'] }] }).slice(-2)).to.deep.equal([
      'limits: 4 instead of 1: ScaleDownLimit, the desired replica count is decreasing faster than the maximum scale rate',
      '  --scale-down-limit-factor 0.5, --scale-down-limit-minimum 3: from 8 to 4 at least',
    ]);
  });

  it('explains failures', () => {
    expect(linesOf({ readings: [{ error: 'gone' }] })).to.deep.equal([
      '3 replicas, bounds 1 to 10: stays, because metrics are missing',
      'external metric queue(nil): failed: unable to get external metric default/queue/nil: unable to fetch metrics from external metrics API: gone',
    ]);
    expect(linesOf({ overlapping: ['default/x'] })[0]).to.equal(
      '3 replicas, bounds 1 to 10: stays, because the pods of the target cannot be determined',
    );
    expect(linesOf({ scale: { step: 'scale', message: 'gone' } })[0]).to.equal(
      'scale of the target unknown; bounds 1 to 10',
    );
  });

  it('notes what a failed metric prevents, without repeating the cause', () => {
    const spec = {
      metrics: [
        ...metrics,
        {
          type: 'External',
          external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '10' } },
        },
      ],
    } as const;
    const pods = [builtPod('web-0'), builtPod('web-1'), builtPod('web-2')];
    const played = (queue: string) =>
      linesOf({ spec, pods, readings: [{ error: 'gone' }, { values: [queue] }] });
    const cause =
      'cpu resource utilization (percentage of request): failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: gone';
    expect(played('80').filter((line) => line.includes('gone'))).to.deep.equal([cause]);
    expect(played('80').at(-1)).to.equal(
      'note: 1 of 2 metrics failed; meanwhile, the HPA scales up, but not down',
    );
    expect(played('10').filter((line) => line.includes('gone'))).to.deep.equal([cause]);
    expect(played('10').at(-1)).to.equal(
      'note: the other metrics propose fewer replicas; the HPA does not scale down while a metric fails',
    );
  });

  it('prints a problem that no metric has', () => {
    const { explanation } = decide(builtInput());
    expect(
      explainDecision({ ...explanation, problem: 'odd' })
        .split('\n')
        .at(-1),
    ).to.equal('problem: odd');
  });

  it('explains steps before metrics', () => {
    const at = (replicas: number): Changes => ({
      scale: { specReplicas: replicas, statusReplicas: replicas, selector: 'app=web' },
    });
    expect(linesOf(at(0))).to.deep.equal([
      '0 replicas, bounds 1 to 10: disabled, because the target has no replicas',
    ]);
    expect(linesOf(at(12))[0]).to.match(/scales to 10, the maximum, without/);
    expect(linesOf({ ...at(1), spec: { minReplicas: 2 } })[0]).to.match(
      /^1 replica, .*scales to 2, the minimum, without/,
    );
  });

  it('names some of many pods', () => {
    const pods = Array.from({ length: 30 }, (_, index) => builtPod(`web-${index}`));
    const lines = linesOf({ spec: { metrics }, readings: [cpu({ 'web-0': '50m' })], pods });
    expect(lines[3]).to.match(
      /^ {2}counts 1 pod; excludes 29 without a sample \(web-1, .*, web-20 and 9 more\)$/,
    );
  });
});

const AT_MS = 1_000_000;
const PROPOSAL: ExplainedProposal = {
  ...{ replicas: 4, ratio: 1.23456, why: 'off-target' },
  tolerances: { scaleUp: 0.1, scaleDown: 0.2 },
};

function lines(
  changes: Partial<MetricExplanation>,
  proposal: Partial<ExplainedProposal> = {},
  isLeading = false,
) {
  const metric: MetricExplanation = {
    ...{ type: 'Pods', name: 'pods metric items', takenAtMs: AT_MS - 90_000 },
    target: { type: 'AverageValue', averageValue: '10' },
    current: { averageValue: '12' },
    proposal: { ...PROPOSAL, ...proposal },
    ...changes,
  };
  return explainMetric(metric, { atMs: AT_MS, isLeading });
}

describe('explainMetric', () => {
  it('shows value, target, age and proposal, with the ratio to a thousandth', () => {
    expect(lines({}, {}, true)).to.deep.equal([
      'pods metric items: 12 of 10 per replica, 1m30s old: proposes 4, the highest',
      '  ratio 1.235: outside the tolerance',
      '  scales up above 11, down below 8',
    ]);
    expect(lines({ takenAtMs: AT_MS + 5000 })[0]).to.include(', 0s old:'); // a clock that is ahead
  });

  it('shows values and targets of each kind', () => {
    const first = (changes: object) => lines(changes)[0]?.replace(/, 1m30s old.*/, '');
    expect(first({ target: { type: 'Value', value: '7' }, current: { value: '9' } })).to.equal(
      'pods metric items: 9 of 7',
    );
    const half = { type: 'Utilization', averageUtilization: 50 };
    expect(first({ target: half, current: { averageUtilization: 80, averageValue: '80m' } })).to.equal(
      'pods metric items: 80% (80m) of 50%',
    );
    expect(first({ target: undefined, current: {} })).to.equal('pods metric items: no average of ');
  });

  it('shows utilization thresholds in whole percent', () => {
    const of = (averageUtilization: number, tolerances: { scaleUp: number; scaleDown: number }) =>
      lines({ target: { type: 'Utilization', averageUtilization } }, { tolerances }).at(-1);
    expect(of(50, { scaleUp: 0.1, scaleDown: 0.2 })).to.equal('  scales up above 55%, down below 40%');
    expect(of(55, { scaleUp: 0.1, scaleDown: 0.1 })).to.equal('  scales up above 60%, down below 50%');
    expect(of(30, { scaleUp: 0.1, scaleDown: 0.1 })).to.equal('  scales up above 33%, down below 27%');
    expect(of(70, { scaleUp: 0.1, scaleDown: 2 })).to.equal('  scales up above 77%, down below 0%');
    const amount = { type: 'AverageValue', averageValue: '10m' };
    expect(lines({ target: amount }, { tolerances: { scaleUp: 0.25, scaleDown: 2 } }).at(-1)).to.equal(
      '  scales up above 12m, down below 0',
    );
    expect(lines({ target: { type: 'Value' } })).to.have.lengthOf(2);
    expect(lines({ target: undefined })).to.have.lengthOf(2);
  });

  it('explains why it stays off its target', () => {
    const why = (reason: ExplainedProposal['why']) => lines({}, { why: reason })[1];
    expect(why('within-tolerance')).to.equal('  ratio 1.235: within the tolerance, no change');
    expect(why('direction-uncertain')).to.equal(
      '  ratio 1.235: no change, because with assumed values of the other pods the HPA would scale in the other direction',
    );
    expect(why('count-uncertain')).to.equal(
      '  ratio 1.235: no change, because the ratio times the number of counted pods would scale in the other direction',
    );
  });

  it('shows which pods count, which do not, and assumed values', () => {
    const none = { count: 0, names: [] };
    const pods = { counted: 3, unknown: 0, unready: none, missing: none, ignored: none };
    const reported = (changes: object) => lines({}, { pods: { ...pods, ...changes } }).slice(2, -1);
    expect(reported({})).to.deep.equal(['  counts 3 pods']);
    expect(reported({ unknown: 2, assumedRatio: 0.98765 })).to.deep.equal([
      '  counts 3 pods; excludes 2 samples of unknown pods',
      '  ratio 0.988 with assumed values of missing and unready pods',
    ]);
    const few = { count: 2, names: ['a', 'b'] };
    expect(reported({ unready: few, missing: { ...few, count: 3 }, ignored: few, unknown: 1 })).to.deep.equal(
      [
        '  counts 3 pods; excludes 2 not ready (a, b); 3 without a sample (a, b and 1 more); 2 deleted or failed (a, b); 1 samples of unknown pods',
      ],
    );
    expect(lines({}, { readyPods: 0 })[2]).to.equal('  times 0 ready pods');
    expect(lines({}, { readyPods: 5, pods })[2]).to.equal('  times 5 ready pods');
  });

  it('shows the failure of a metric, and nothing of an unevaluated one', () => {
    const failure = { reason: 'R', message: 'connection refused', error: 'E', isRefusal: false };
    expect(lines({ failure })).to.deep.equal(['pods metric items: failed: connection refused']);
    const none = { type: '', name: 'n', target: undefined, current: undefined };
    expect(explainMetric(none, { atMs: 0, isLeading: false })).to.deep.equal([]);
  });
});

/** The explanation of an external metric per replica, of three. */
function explanationOf(averageThousandths: number, targetThousandths: number) {
  const averageValue = `${targetThousandths}m`;
  const { explanation } = decide(
    builtInput({
      spec: {
        maxReplicas: 100_000,
        metrics: [
          {
            type: 'External',
            external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue } },
          },
        ],
      },
      readings: [{ values: [`${averageThousandths * 3}m`] }],
    }),
  );
  return explanation.metrics[0] ?? expect.fail('no metric');
}

describe('metricThresholds', () => {
  it('returns the values at which the proposal changes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 2000 }), (average, target) => {
        const metric = explanationOf(average, target);
        const thresholds = metricThresholds(metric) ?? expect.fail('no thresholds');
        const isInside =
          BigInt(average) <= parseThousandths(thresholds.scalesUpAbove) &&
          BigInt(average) >= parseThousandths(thresholds.scalesDownBelow);
        expect(metric.proposal?.why === 'within-tolerance').to.equal(isInside);
      }),
    );
  });

  it('returns nothing without a proposal', () => {
    const { proposal: _, ...metric } = explanationOf(1, 1);
    expect(metricThresholds(metric)).to.equal(undefined);
  });
});
