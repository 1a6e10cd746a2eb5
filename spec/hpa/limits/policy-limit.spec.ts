import { expect } from 'chai';
import { type HpaMemory, NO_MEMORY } from '#lib/hpa/decision/scaling-state.ts';
import { policyLimit } from '#lib/hpa/limits/policy-limit.ts';
import type { HpaBehavior } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { NOW_MS } from '../built-world.ts';

const event = (change: number, secondsAgo: number) => ({ change, atMs: NOW_MS - secondsAgo * 1000 });
const pods = (value: number, periodSeconds = 60) => ({ type: 'Pods', value, periodSeconds });
const percent = (value: number, periodSeconds = 60) => ({ type: 'Percent', value, periodSeconds });

function limit(
  recommended: number,
  behavior: HpaBehavior,
  memory: Partial<HpaMemory> = {},
  currentReplicas = 10,
) {
  return policyLimit(
    recommended,
    { currentReplicas, minReplicas: 2, maxReplicas: 50 },
    { behavior, memory: { ...NO_MEMORY, ...memory }, nowMs: NOW_MS },
  );
}

describe('policyLimit', () => {
  it('lets pass what stays', () => {
    expect(limit(10, {})).to.deep.equal({
      ...{ replicas: 10, reason: 'DesiredWithinRange' },
      message: 'the desired count is within the acceptable range',
    });
  });

  it('takes the furthest policy, or the nearest where the least is asked for', () => {
    const policies = [pods(3), percent(50)];
    expect(limit(40, { scaleUp: { policies } })).to.include({ replicas: 15, reason: 'ScaleUpLimit' });
    expect(limit(40, { scaleUp: { policies, selectPolicy: 'Min' } })).to.include({ replicas: 13 });
    expect(limit(2, { scaleDown: { policies } })).to.include({ replicas: 5, reason: 'ScaleDownLimit' });
    expect(limit(2, { scaleDown: { policies, selectPolicy: 'Min' } })).to.include({ replicas: 7 });
  });

  it('does not scale where that is disabled', () => {
    const rules = { policies: [pods(5)], selectPolicy: 'Disabled' };
    expect(limit(40, { scaleUp: rules })).to.deep.include({
      replicas: 10,
      reason: 'ScaleUpLimit',
      policies: [],
    });
    expect(limit(2, { scaleDown: rules })).to.include({ replicas: 10, reason: 'ScaleDownLimit' });
  });

  it('rounds percentages up going up, and what they leave down going down', () => {
    expect(limit(40, { scaleUp: { policies: [percent(1)] } }).replicas).to.equal(11);
    expect(limit(2, { scaleDown: { policies: [percent(1)] } }).replicas).to.equal(9);
  });

  it('lets pass what just reaches a limit', () => {
    for (const recommended of [15, 5]) {
      const { replicas, reason } = limit(recommended, {
        scaleUp: { policies: [pods(5)] },
        scaleDown: { policies: [pods(5)] },
      });
      expect([replicas, reason]).to.deep.equal([recommended, 'DesiredWithinRange']);
    }
    expect(limit(2, { scaleDown: { policies: [pods(8)] } }).reason).to.equal('DesiredWithinRange');
    expect(limit(50, { scaleUp: { policies: [pods(40)] } }).reason).to.equal('DesiredWithinRange');
  });

  it('leaves what floating-point numbers leave', () => {
    const range = { currentReplicas: 10, minReplicas: 0, maxReplicas: 50 };
    const input = { behavior: { scaleDown: { policies: [percent(80)] } }, memory: NO_MEMORY, nowMs: NOW_MS };
    expect(policyLimit(0, range, input).replicas).to.equal(1); // 10 * (1 - 0.8) is a little less than 2
  });

  it('counts from the start of the period', () => {
    const memory = { scaleUpEvents: [event(4, 30), event(9, 61)], scaleDownEvents: [event(1, 59)] };
    const { replicas, policies } = limit(40, { scaleUp: { policies: [pods(5)] } }, memory);
    expect(replicas).to.equal(12);
    expect(policies).to.deep.equal([{ ...pods(5), periodStartReplicas: 7, replicas: 12 }]);
    expect(limit(2, { scaleDown: { policies: [percent(50)] } }, memory).replicas).to.equal(3);
  });

  it('stays where the period is spent, whichever way it went', () => {
    const spent = { scaleUpEvents: [event(8, 30)] };
    expect(limit(40, { scaleUp: { policies: [pods(5)] } }, spent)).to.include({ replicas: 10 });
    const back = { scaleDownEvents: [event(8, 30)] };
    expect(limit(2, { scaleDown: { policies: [pods(5)] } }, back)).to.include({ replicas: 10 });
  });

  it('keeps to minimum and maximum', () => {
    expect(limit(99, { scaleUp: { policies: [pods(40)] } })).to.include({
      replicas: 50,
      reason: 'TooManyReplicas',
    });
    expect(limit(0, { scaleDown: { policies: [pods(8)] } })).to.include({
      replicas: 2,
      reason: 'TooFewReplicas',
    });
  });

  it('takes a percentage beyond 32 bits for no limit, and wraps a number of pods around', () => {
    const most = 2 ** 31 - 1;
    expect(limit(40, { scaleUp: { policies: [percent(most)] } }, {}, 30).replicas).to.equal(40);
    expect(limit(50, { scaleUp: { policies: [percent(most)] } }, {}, 49).policies?.[0]?.replicas).to.equal(
      Math.ceil(49 * (1 + most / 100)),
    );
    expect(
      policyLimit(
        most,
        { currentReplicas: 200, minReplicas: 1, maxReplicas: most },
        { behavior: { scaleUp: { policies: [percent(most)] } }, memory: NO_MEMORY, nowMs: NOW_MS },
      ).replicas,
    ).to.equal(most);
    expect(limit(40, { scaleUp: { policies: [pods(most)] } }).replicas).to.equal(10);
  });
});
