import { expect } from 'chai';
import { conclude } from '#lib/hpa/decision/conclude.ts';
import { decide } from '#lib/hpa/decision/decide.ts';
import type { HpaStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { builtInput, NOW_MS } from '#spec/hpa/built-inputs.ts';

const NOW = '2026-01-01T00:00:00Z';

describe('conclude', () => {
  const rising = builtInput({ readings: [{ values: ['60'] }] });

  it('reports that the scale was written', () => {
    const outcome = conclude(decide(rising), rising.hpa, { nowMs: NOW_MS });
    expect(outcome).to.deep.include({ desiredReplicas: 6, isStatusChanged: true, error: undefined });
    expect(outcome.status).to.deep.include({ currentReplicas: 3, desiredReplicas: 6, lastScaleTime: NOW });
    expect(outcome.status.conditions?.[0]).to.deep.equal({
      type: 'AbleToScale',
      status: 'True',
      lastTransitionTime: NOW,
      reason: 'SucceededRescale',
      message: 'the HPA controller was able to update the target scale to 6',
    });
    expect(outcome.events).to.deep.equal([
      {
        type: 'Normal',
        reason: 'SuccessfulRescale',
        message: 'New size: 6; reason: external metric queue(nil) above target',
      },
    ]);
  });

  it('reports why the scale was not written, and records no scale event', () => {
    const behavior = { scaleUp: { policies: [{ type: 'Pods', value: 9, periodSeconds: 15 }] } };
    const input = builtInput({ spec: { behavior }, readings: [{ values: ['60'] }] });
    const written = conclude(decide(input), input.hpa, { nowMs: NOW_MS });
    expect(written.memory.scaleUpEvents).to.deep.equal([{ change: 3, atMs: NOW_MS }]);
    const refused = conclude(decide(input), input.hpa, { nowMs: NOW_MS, updateError: 'forbidden' });
    expect(refused.memory.scaleUpEvents).to.deep.equal([]);
    expect(refused.error).to.equal('failed to rescale Deployment/default/web: forbidden');
    expect(refused.desiredReplicas).to.equal(undefined);
    expect(refused.status).to.deep.include({ currentReplicas: 3, desiredReplicas: 0 });
    expect(refused.status).to.not.have.property('lastScaleTime');
    expect(refused.events[0]?.message).to.match(/^New size: 6; .* above target; error: forbidden$/);
  });

  it('does not request a write of an unchanged status', () => {
    const steady = builtInput();
    const first = conclude(decide(steady), steady.hpa, { nowMs: NOW_MS });
    const again = { ...steady, hpa: { ...steady.hpa, status: first.status }, memory: first.memory };
    const second = conclude(decide({ ...again, nowMs: NOW_MS + 15_000 }), again.hpa, {
      nowMs: NOW_MS + 15_000,
    });
    expect(second.isStatusChanged).to.equal(false);
    expect(second.status).to.deep.equal(first.status);
  });

  it('changes only conditions when the scale is unknown', () => {
    const input = builtInput({ scale: { step: 'kind', message: 'no matches' } });
    const status: HpaStatus = { currentReplicas: 4, desiredReplicas: 5, currentMetrics: [{ type: '' }] };
    const outcome = conclude(decide(input), { ...input.hpa, status }, { nowMs: NOW_MS });
    expect(outcome.status).to.deep.include({ ...status });
    expect(outcome.error).to.equal('unable to determine resource for scale target reference: no matches');
  });

  it('retains desiredReplicas without a decision', () => {
    const input = builtInput({ readings: [{ error: 'gone' }] });
    const status: HpaStatus = {
      currentReplicas: 4,
      desiredReplicas: 5,
      lastScaleTime: '2025-12-31T00:00:00Z',
    };
    const outcome = conclude(decide(input), { ...input.hpa, status }, { nowMs: NOW_MS });
    expect(outcome.status).to.deep.include({
      currentReplicas: 3,
      desiredReplicas: 5,
      currentMetrics: [{ type: '' }],
    });
    expect(outcome.status.lastScaleTime).to.equal('2025-12-31T00:00:00Z');
  });
});
