import { expect } from 'chai';
import { conclude } from '#lib/hpa/decision/conclude.ts';
import { decide, decideInSteps, needsMetrics, selectionProblem } from '#lib/hpa/decision/decide.ts';
import { DEFAULT_HPA_CONFIG, type Scale } from '#lib/hpa/decision/decision-input.ts';
import { builtInput, NOW_MS } from '#spec/hpa/built-inputs.ts';

const MAX_SELECTOR_LENGTH = 4096;

const scaled = (replicas: number): { readonly scale: Scale } => ({
  scale: { specReplicas: replicas, statusReplicas: replicas, selector: 'app=web' },
});

describe('decide', () => {
  it('follows the metrics within the bounds', () => {
    const { scaleTo, scaleReason, memory, explanation } = decide(
      builtInput({ readings: [{ values: ['60'] }] }),
    );
    expect(scaleTo).to.equal(6);
    expect(scaleReason).to.equal('external metric queue(nil) above target');
    expect(memory.recommendations).to.deep.equal([
      { replicas: 3, atMs: NOW_MS },
      { replicas: 6, atMs: NOW_MS },
    ]);
    expect(explanation).to.deep.include({
      step: 'metrics',
      proposedReplicas: 6,
      desiredReplicas: 6,
      leadingMetric: 0,
    });
    expect(explanation.limit).to.include({ reason: 'DesiredWithinRange' });
  });

  it('takes a step for each of thousands of metrics', () => {
    const metric = {
      metric: { name: 'queue' },
      target: { type: 'AverageValue', averageValue: '10' },
    } as const;
    const metrics = Array.from({ length: 3000 }, () => ({ type: 'External', external: metric }) as const);
    const input = builtInput({ spec: { metrics }, readings: metrics.map(() => ({ values: ['60'] })) });
    const steps = decideInSteps(input);
    let stepCount = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) stepCount++;
    expect(stepCount).to.equal(3000);
    expect(step.value).to.deep.equal(decide(input));
    expect(step.value.scaleTo).to.equal(6);
  });

  it('does not scale by a selector that is too long', () => {
    const selector = `app in (${'w'.repeat(MAX_SELECTOR_LENGTH)})`;
    const input = builtInput({ readings: [{ values: ['60'] }] });
    const decision = decide({ ...input, scale: { ...scaled(3).scale, selector } });
    expect(decision.scaleTo).to.equal(undefined);
    expect(decision.error).to.include('more than 4096');
  });

  it('returns an explanation that JSON can represent', () => {
    const { explanation } = decide(builtInput({ readings: [{ values: ['60'] }] }));
    expect(JSON.parse(JSON.stringify(explanation))).to.deep.equal(explanation);
  });

  it('leaves the scale unchanged when nothing changes', () => {
    expect(decide(builtInput())).to.include({ scaleTo: undefined, error: undefined });
  });

  it('takes the current replicas of a new HPA as recommended, so it does not scale down at once', () => {
    const { scaleTo, explanation } = decide(builtInput({ readings: [{ values: ['10'] }] }));
    expect(scaleTo).to.equal(undefined);
    expect(explanation.stabilization).to.include({ proposed: 1, replicas: 3, reason: 'ScaleDownStabilized' });
  });

  it('returns to the bounds without metrics', () => {
    expect(decide(builtInput(scaled(12)))).to.include({
      ...{ scaleTo: 10, scaleReason: 'Current number of replicas above Spec.MaxReplicas' },
    });
    const below = decide(builtInput({ ...scaled(1), spec: { minReplicas: 2 } }));
    expect(below).to.include({
      scaleTo: 2,
      scaleReason: 'Current number of replicas below Spec.MinReplicas',
    });
    expect(below.status?.currentMetrics).to.equal(null);
  });

  it('proposes nothing beyond contradictory bounds', () => {
    const spec = { minReplicas: 9, maxReplicas: 4 };
    for (const replicas of [1, 3, 4, 5, 8, 9, 10, 2 ** 31 - 1]) {
      const { scaleTo } = decide(builtInput({ ...scaled(replicas), spec, readings: [{ values: ['1e9'] }] }));
      expect(scaleTo, `from ${replicas}`).to.equal(replicas > 4 ? 4 : 9);
    }
  });

  it('handles the maximum number of replicas', () => {
    const max = 2 ** 31 - 1;
    const rules = (value: number) => ({
      ...{ stabilizationWindowSeconds: 0, selectPolicy: 'Min' },
      policies: ['Pods', 'Percent'].map((type) => ({ type, value, periodSeconds: 1800 })),
    });
    const spec = { maxReplicas: max, behavior: { scaleUp: rules(max - 3), scaleDown: rules(max) } };
    const high = { spec, readings: [{ values: ['9000000000000'] }] };
    const up = decide(builtInput(high));
    expect(up.scaleTo).to.be.within(60_000_000, max); // three replicas, and as many percent of them
    expect(decide(builtInput({ ...high, ...scaled(max) })).scaleTo).to.equal(undefined);
    const down = decide(builtInput({ ...scaled(max), spec, readings: [{ values: ['10'] }] }));
    expect(down.scaleTo).to.equal(1);
  });

  it('is disabled when the target has no replicas', () => {
    const off = decide(builtInput(scaled(0)));
    expect(off.scaleTo).to.equal(undefined);
    expect(off.conditions[1]).to.include({ type: 'ScalingActive', isTrue: false, reason: 'ScalingDisabled' });
  });

  it('reports why the scale is unknown', () => {
    const { error, memory, status, events } = decide(
      builtInput({ scale: { step: 'scale', message: 'deployments.apps "web" not found' } }),
    );
    expect(error).to.equal(
      'failed to query scale subresource for Deployment/default/web: deployments.apps "web" not found',
    );
    expect(memory.recommendations).to.deep.equal([]);
    expect(status).to.equal(undefined);
    expect(events).to.deep.equal([
      { type: 'Warning', reason: 'FailedGetScale', message: 'deployments.apps "web" not found' },
    ]);
  });

  it('does nothing for a spec that is too large, but keeps the target within its bounds', () => {
    const { hpa } = builtInput();
    const omitted = 'the HPA has 501 metrics, more than 500';
    const decided = (replicas: number) =>
      decide(builtInput({ ...scaled(replicas), hpa: { ...hpa, omitted }, readings: [] }));
    const { scaleTo, conditions, explanation, status } = decided(3);
    expect([scaleTo, status?.currentMetrics, explanation.step]).to.deep.equal([
      undefined,
      null,
      'omitted-spec',
    ]);
    expect(conditions[1]).to.include({ isTrue: false, reason: 'SpecTooLarge', message: omitted });
    expect(decided(11).scaleTo).to.equal(10);
  });

  it('does nothing when HPAs overlap or metrics are missing', () => {
    const overlapping = decide(builtInput({ overlapping: ['default/rival'] }));
    expect(overlapping.scaleTo).to.equal(undefined);
    expect(overlapping.explanation).to.include({ step: 'unclear-pods', desiredReplicas: 3 });
    const missing = decide(builtInput({ readings: [{ error: 'gone' }] }));
    expect(missing.scaleTo).to.equal(undefined);
    expect(missing.explanation.step).to.equal('metrics-missing');
    expect(missing.events.map(({ reason }) => reason)).to.deep.equal([
      ...['FailedGetExternalMetric', 'FailedComputeMetricsReplicas'],
    ]);
  });

  it('does nothing for an HPA without metrics', () => {
    const { scaleTo, error } = decide(builtInput({ spec: { metrics: [] }, readings: [] }));
    expect(scaleTo).to.equal(undefined);
    expect(error).to.match(/Deployment\/default\/web: the HPA has no metrics$/);
  });

  it('applies the behavior of the HPA', () => {
    const behavior = {
      scaleUp: { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }] },
      scaleDown: {
        stabilizationWindowSeconds: 0,
        policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
      },
    };
    const up = decide(builtInput({ spec: { behavior }, readings: [{ values: ['60'] }] }));
    expect(up.scaleTo).to.equal(4);
    expect(up.explanation.limit?.policies).to.have.length(1);
    expect(decide(builtInput({ spec: { behavior }, readings: [{ values: ['10'] }] })).scaleTo).to.equal(1);
  });
});

describe('needsMetrics', () => {
  it('returns true only within the bounds', () => {
    const { hpa } = builtInput();
    expect(needsMetrics(hpa, scaled(3).scale, DEFAULT_HPA_CONFIG)).to.equal(true);
    for (const replicas of [0, 11])
      expect(needsMetrics(hpa, scaled(replicas).scale, DEFAULT_HPA_CONFIG)).to.equal(false);
    expect(needsMetrics(hpa, { step: 'scale', message: 'gone' }, DEFAULT_HPA_CONFIG)).to.equal(false);
  });
});

describe('decide with a target that may be scaled to zero', () => {
  const SCALED_TO_ZERO = { type: 'ScaledToZero', status: 'True' } as const;
  const decided = ({
    replicas = 0,
    minReplicas = 0,
    queue = '0',
    status = SCALED_TO_ZERO as { readonly type: string; readonly status: string } | null,
    scaleToZero = true,
  }) => {
    const input = builtInput({ ...scaled(replicas), spec: { minReplicas }, readings: [{ values: [queue] }] });
    const hpa = { ...input.hpa, status: { desiredReplicas: 0, ...(status && { conditions: [status] }) } };
    const config = { ...DEFAULT_HPA_CONFIG, downscaleStabilizationMs: 0, scaleToZero };
    const decision = decide({ ...input, hpa, config });
    const outcome = conclude(decision, hpa, { nowMs: NOW_MS });
    const condition = outcome.status.conditions?.find(({ type }) => type === 'ScaledToZero')?.status;
    return { scaleTo: decision.scaleTo, step: decision.explanation.step, condition };
  };

  it('scales to zero with the condition, and up again', () => {
    const down = decided({ replicas: 3, status: null });
    expect(down).to.deep.equal({ scaleTo: 0, step: 'metrics', condition: 'True' });
    expect(decided({})).to.deep.equal({ scaleTo: undefined, step: 'metrics', condition: 'True' });
    expect(decided({ queue: '15' })).to.deep.equal({ scaleTo: 2, step: 'metrics', condition: 'False' });
    expect(decided({ minReplicas: 1 }).scaleTo).to.equal(1);
  });

  it('leaves a target unchanged that something else scaled to zero', () => {
    for (const status of [null, { type: 'ScaledToZero', status: 'False' }])
      for (const minReplicas of [0, 1])
        expect(decided({ status, minReplicas, queue: '15' })).to.include({
          ...{ scaleTo: undefined, step: 'switched-off' },
        });
  });

  it('neither leaves zero nor sets the condition with the feature gate off', () => {
    const off = { scaleToZero: false };
    expect(decided({ ...off, queue: '15' })).to.deep.equal({
      ...{ scaleTo: undefined, step: 'switched-off', condition: undefined },
    });
    expect(decided({ ...off, replicas: 3, queue: '50' })).to.deep.equal({
      ...{ scaleTo: 5, step: 'metrics', condition: undefined },
    });
  });
});

describe('selectionProblem', () => {
  const own = 'default/web';

  it('returns nothing for a selector of one HPA', () => {
    expect(selectionProblem('app=web', { own, overlapping: [] })).to.equal(undefined);
  });

  it('reports a missing selector', () => {
    expect(selectionProblem('', { own, overlapping: [] })).to.deep.equal({
      reason: 'InvalidSelector',
      eventReason: 'SelectorRequired',
      message: "the HPA target's scale is missing a selector",
      error: 'selector is required',
    });
  });

  it('reports an invalid selector', () => {
    const maximum = 'a,'.repeat(MAX_SELECTOR_LENGTH / 2 - 1).concat('aa');
    expect(selectionProblem(maximum, { own, overlapping: [] })).to.equal(undefined);
    expect(selectionProblem(`${maximum}a`, { own, overlapping: [] })).to.deep.include({
      reason: 'InvalidSelector',
      message: 'the selector of the scale has 4097 characters, more than 4096',
    });
    expect(selectionProblem('app in (web', { own, overlapping: [] })?.message).to.equal(
      "couldn't convert selector into a corresponding internal selector object: unable to parse requirement: found '', expected: ',' or ')'",
    );
  });

  it('reports pods that cannot be selected', () => {
    const message = 'Cannot select pods of namespace default: pod x has too many labels';
    expect(selectionProblem('app=web', { own, overlapping: [], selectionError: message })).to.deep.equal({
      reason: 'UnselectablePods',
      eventReason: 'UnselectablePods',
      message,
      error: message,
    });
  });

  it('reports HPAs that select the same pods, sorted', () => {
    const problem = selectionProblem('app=web', { own, overlapping: ['default/x', 'default/a'] });
    expect(problem).to.deep.include({
      reason: 'AmbiguousSelector',
      error: 'pods by selector app=web are controlled by multiple HPAs: [default/a default/web default/x]',
    });
  });
  it('names at most 20 of a thousand HPAs', () => {
    const overlapping = Array.from({ length: 1000 }, (_, index) => `default/x-${index}`);
    const message = selectionProblem('app=web', { own, overlapping })?.message;
    expect(message).to.match(/HPAs: \[default\/web default\/x-0 default\/x-1 .* and 981 more\]$/);
    expect(message?.length).to.be.lessThan(1024);
  });
});
