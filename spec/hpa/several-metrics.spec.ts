import { expect } from 'chai';
import type { MetricSpec } from '#lib/hpa/objects/horizontal-pod-autoscaler.ts';
import type { MetricReading } from '#lib/hpa/objects/metric-reading.ts';
import { evaluateMetrics } from '#lib/hpa/several-metrics.ts';
import { builtInput } from './built-world.ts';

/** Evaluates external metrics of which each is to be 10 per replica; `undefined` is one that failed. */
function evaluate(...values: readonly (string | undefined)[]) {
  const { pods, config, nowMs } = builtInput();
  const metrics = values.map(
    (_, place): MetricSpec => ({
      type: 'External',
      external: { metric: { name: `m${place}` }, target: { type: 'AverageValue', averageValue: '10' } },
    }),
  );
  const readings = values.map(
    (value): MetricReading =>
      value === undefined ? { error: 'gone' } : { values: [value], takenAtMs: nowMs - 5 },
  );
  return evaluateMetrics(metrics, readings, {
    ...{ pods, config, nowMs, namespace: 'default', specReplicas: 3, statusReplicas: 3 },
    tolerances: { scaleDown: 0.1, scaleUp: 0.1 },
  });
}

describe('evaluateMetrics', () => {
  it('takes the largest proposal, the first of equals', () => {
    expect(evaluate('10', '70', '65', '20').proposal).to.deep.equal({
      ...{ replicas: 7, name: 'external metric m1(nil)', leadingMetric: 1 },
    });
  });

  it('takes what follows in place of nothing, even less', () => {
    expect(evaluate('0', '-50').proposal).to.include({ replicas: -5, leadingMetric: 1 });
    expect(evaluate('-50', '0').proposal).to.include({ replicas: 0, leadingMetric: 1 });
  });

  it('scales up, and stays, by what remains, and reports what failed', () => {
    const up = evaluate(undefined, '70', undefined);
    expect(up.proposal?.replicas).to.equal(7);
    expect(up.error).to.match(
      /^invalid metrics \(2 invalid out of 3\), first error is: failed to get m0 external/,
    );
    expect(up.statuses.map(({ type }) => type)).to.deep.equal(['', 'External', '']);
    expect(evaluate(undefined, '30').proposal?.replicas).to.equal(3);
  });

  it('does not scale down while a metric is missing, nor at all without any', () => {
    expect(evaluate(undefined, '20')).to.not.have.property('proposal');
    expect(evaluate(undefined)).to.not.have.property('proposal');
    expect(evaluate()).to.not.have.property('proposal');
  });

  it('explains each metric', () => {
    const { explanations, failures } = evaluate('70', undefined);
    expect(explanations[0]).to.deep.include({
      ...{ type: 'External', name: 'external metric m0(nil)', current: { averageValue: '23334m' } },
      takenAtMs: builtInput().nowMs - 5,
    });
    expect(explanations[0]?.proposal).to.include({ replicas: 7, why: 'off-target' });
    expect(explanations[1]?.failure).to.equal(failures[0]);
    expect(explanations[1]?.current).to.equal(undefined);
  });
});
