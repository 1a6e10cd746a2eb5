import { expect } from 'chai';
import { runAllSteps } from '#lib/concurrency/event-loop.ts';
import type { MetricReading } from '#lib/hpa/decision/decision-input.ts';
import { evaluateMetricsInSteps } from '#lib/hpa/decision/evaluate-metrics.ts';
import type { MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { builtInput } from '#spec/hpa/built-inputs.ts';

const TARGET = { type: 'AverageValue', averageValue: '10' };

/** Evaluates external metrics with a target of 10 per replica each; `undefined` is a failed one. */
function evaluate(...values: readonly (string | undefined)[]) {
  const metrics = values.map(
    (_, index): MetricSpec => ({
      type: 'External',
      external: { metric: { name: `m${index}` }, target: TARGET },
    }),
  );
  const takenAtMs = builtInput().nowMs - 5;
  return evaluateAll(
    metrics,
    values.map((value) => (value === undefined ? { error: 'gone' } : { values: [value], takenAtMs })),
  );
}

/** Evaluates metrics of an object, which may be negative. */
function evaluateObjects(...values: readonly string[]) {
  const describedObject = { kind: 'Ingress', name: 'front' };
  const metrics = values.map(
    (_, index): MetricSpec => ({
      type: 'Object',
      object: { metric: { name: `m${index}` }, target: TARGET, describedObject },
    }),
  );
  return evaluateAll(
    metrics,
    values.map((value) => ({ value })),
  );
}

function evaluateAll(metrics: readonly MetricSpec[], readings: readonly MetricReading[]) {
  const { pods, config, nowMs } = builtInput();
  return runAllSteps(
    evaluateMetricsInSteps(metrics, readings, {
      ...{ pods, config, nowMs, namespace: 'default', specReplicas: 3, statusReplicas: 3 },
      tolerances: { scaleDown: 0.1, scaleUp: 0.1 },
    }),
  );
}

describe('evaluateMetricsInSteps', () => {
  it('returns the highest proposal, the first of equal ones', () => {
    expect(evaluate('10', '70', '65', '20').proposal).to.deep.equal({
      ...{ replicas: 7, name: 'external metric m1(nil)', leadingMetric: 1 },
    });
  });

  it('prefers any proposal to one without replicas', () => {
    expect(evaluateObjects('0', '-50').proposal).to.include({ replicas: -5, leadingMetric: 1 });
    expect(evaluateObjects('-50', '0').proposal).to.include({ replicas: 0, leadingMetric: 1 });
  });

  it('scales up or stays by the remaining metrics, and reports failures', () => {
    const up = evaluate(undefined, '70', undefined);
    expect(up.proposal?.replicas).to.equal(7);
    expect(up.error).to.match(
      /^invalid metrics \(2 invalid out of 3\), first error is: failed to get m0 external/,
    );
    expect(up.statuses.map(({ type }) => type)).to.deep.equal(['', 'External', '']);
    expect(evaluate(undefined, '30').proposal?.replicas).to.equal(3);
  });

  it('does not scale down with a missing metric, and not at all without any', () => {
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

  it('returns target, value and time of the oldest value for each kind of metric', () => {
    const { pods, config, nowMs } = builtInput();
    const average = { type: 'AverageValue', averageValue: '1' };
    const half = { type: 'Utilization', averageUtilization: 50 };
    const value = { type: 'Value', value: '7' };
    const described = { kind: 'Service', name: 'web' };
    const usageAt = (...agesMs: readonly number[]): MetricReading => ({
      podUsage: agesMs.map((ageMs, index) => ({
        ...{ pod: `web-${index}`, takenAtMs: nowMs - ageMs, windowMs: 30_000 },
        containers: [{ name: 'app', usage: { cpu: '50m' } }],
      })),
    });
    const podValues = ['web-0', 'web-1', 'web-2'].map((pod) => ({ pod, value: '2' }));
    const cases: readonly [MetricSpec, MetricReading, object, object | undefined, number | undefined][] = [
      [
        ...[{ type: 'Resource', resource: { name: 'cpu', target: half } }, usageAt(10, 30, 20)],
        ...[half, { averageValue: '50m', averageUtilization: 50 }, 30],
      ],
      [
        { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'app', target: average } },
        ...[usageAt(40, 10, 20), average, { averageValue: '50m' }, 40],
      ],
      [
        ...[
          { type: 'Pods', pods: { metric: { name: 'items' }, target: average } },
          { podValues, takenAtMs: nowMs - 7 },
        ],
        ...[average, { averageValue: '2' }, 7],
      ],
      [
        { type: 'Object', object: { metric: { name: 'hits' }, describedObject: described, target: value } },
        ...[{ value: '9', takenAtMs: nowMs - 8 }, value, { value: '9' }, 8],
      ],
      [
        ...[{ type: 'External', external: { metric: { name: 'queue' }, target: value } }, { values: ['3'] }],
        ...[value, { value: '3' }, undefined],
      ],
      [
        ...[{ type: 'External', external: { metric: { name: 'gone' }, target: value } }, { error: 'gone' }],
        ...[value, undefined, undefined],
      ],
    ] as never;
    const { explanations } = runAllSteps(
      evaluateMetricsInSteps(
        cases.map(([spec]) => spec),
        cases.map(([, reading]) => reading),
        {
          ...{ pods, config, nowMs, namespace: 'default', specReplicas: 3, statusReplicas: 3 },
          tolerances: { scaleDown: 0.1, scaleUp: 0.1 },
        },
      ),
    );
    for (const [index, [spec, , target, current, ageMs]] of cases.entries()) {
      const { type, takenAtMs, ...explained } = explanations[index] ?? expect.fail('each is explained');
      expect(type).to.equal(spec.type);
      expect(explained, type).to.deep.include({ target, current });
      expect(takenAtMs, type).to.equal(ageMs === undefined ? undefined : nowMs - ageMs);
    }
  });

  it('treats a metric without a reading as failed', () => {
    const { pods, config, nowMs, hpa } = builtInput();
    const context = { ...{ pods, config, nowMs, namespace: 'default' }, specReplicas: 3, statusReplicas: 3 };
    const tolerances = { scaleDown: 0.1, scaleUp: 0.1 };
    const { failures } = runAllSteps(
      evaluateMetricsInSteps(hpa.spec.metrics ?? [], [], { ...context, tolerances }),
    );
    expect(failures.map(({ message }) => message)).to.deep.equal([
      'unable to get external metric default/queue/nil: unable to fetch metrics from external metrics API: not read',
    ]);
  });
});
