import { expect } from 'chai';
import type { ExplainedProposal, MetricExplanation } from '#lib/hpa/decision/decision.ts';
import { explainMetric } from '#lib/hpa/explain/explain-metric.ts';

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
  it('tells value, target, age and what is asked for, with the ratio to a thousandth', () => {
    expect(lines({}, {}, true)).to.deep.equal([
      'pods metric items: 12 of 10 for each replica, 1m30s old: asks for 4, which leads',
      '  ratio 1.235: outside of the tolerance',
      '  scales up above 11, down below 8',
    ]);
    expect(lines({ takenAtMs: AT_MS + 5000 })[0]).to.include(', 0s old:'); // a clock that is ahead
  });

  it('tells values and targets of each kind', () => {
    const first = (changes: object) => lines(changes)[0]?.replace(/, 1m30s old.*/, '');
    expect(first({ target: { type: 'Value', value: '7' }, current: { value: '9' } })).to.equal(
      'pods metric items: 9 of 7',
    );
    const half = { type: 'Utilization', averageUtilization: 50 };
    expect(first({ target: half, current: { averageUtilization: 80, averageValue: '80m' } })).to.equal(
      'pods metric items: 80% (80m) of 50%',
    );
    expect(first({ target: undefined, current: {} })).to.equal('pods metric items: no mean of ');
  });

  it('tells the thresholds of a utilization in whole percent', () => {
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

  it('tells why it stays though it is off its target', () => {
    const why = (reason: ExplainedProposal['why']) => lines({}, { why: reason })[1];
    expect(why('within-tolerance')).to.equal('  ratio 1.235: within the tolerance, so it stays');
    expect(why('direction-uncertain')).to.equal(
      '  ratio 1.235: with what is assumed of other pods it would scale the other way, so it stays',
    );
    expect(why('count-uncertain')).to.equal(
      '  ratio 1.235: as many pods as count would mean scaling the other way, so it stays',
    );
  });

  it('tells which pods count, which do not, and what was assumed of these', () => {
    const none = { count: 0, names: [] };
    const pods = { counted: 3, unknown: 0, unready: none, missing: none, ignored: none };
    const told = (changes: object) => lines({}, { pods: { ...pods, ...changes } }).slice(2, -1);
    expect(told({})).to.deep.equal(['  counts 3 pods']);
    expect(told({ unknown: 2, assumedRatio: 0.98765 })).to.deep.equal([
      '  counts 3 pods; besides 2 samples of pods that are not known',
      '  ratio 0.988 with what is assumed of those that are missing or not ready',
    ]);
    const few = { count: 2, names: ['a', 'b'] };
    expect(told({ unready: few, missing: { ...few, count: 3 }, ignored: few, unknown: 1 })).to.deep.equal([
      '  counts 3 pods; besides 2 not ready (a, b); 3 without a sample (a, b and 1 more); 2 deleted or failed (a, b); 1 samples of pods that are not known',
    ]);
    expect(lines({}, { readyPods: 0 })[2]).to.equal('  times 0 ready pods');
    expect(lines({}, { readyPods: 5, pods })[2]).to.equal('  times 5 ready pods');
  });

  it('tells of one that failed why, and nothing of one that was not looked at', () => {
    const failure = { reason: 'R', message: 'nobody serves it', error: 'E', isRefusal: false };
    expect(lines({ failure })).to.deep.equal(['pods metric items: unknown: nobody serves it']);
    const none = { type: '', name: 'n', target: undefined, current: undefined };
    expect(explainMetric(none, { atMs: 0, isLeading: false })).to.deep.equal([]);
  });
});
