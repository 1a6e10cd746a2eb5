import { expect } from 'chai';
import {
  defaultLimit,
  policyLimit,
  stabilizeWithBehavior,
  stabilizeWithoutBehavior,
} from '#lib/hpa/decision/behavior.ts';
import { EMPTY_STATE, type ScalingState } from '#lib/hpa/decision/scaling-state.ts';
import type { HpaBehavior } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { NOW_MS } from '#spec/hpa/built-inputs.ts';

const at = (replicas: number, secondsAgo: number) => ({ replicas, atMs: NOW_MS - secondsAgo * 1000 });

function stabilize(
  [proposed, currentReplicas]: readonly [number, number],
  earlier: readonly ReturnType<typeof at>[],
  [upSeconds, downSeconds]: readonly [number, number] = [60, 300],
) {
  const windows = { scaleUpWindowMs: upSeconds * 1000, scaleDownWindowMs: downSeconds * 1000 };
  return stabilizeWithBehavior({ proposed, currentReplicas }, earlier, { ...windows, nowMs: NOW_MS });
}

describe('stabilizeWithBehavior', () => {
  it('scales up at most to the lowest recommendation of its window', () => {
    expect(stabilize([9, 4], [at(6, 30), at(5, 61)])).to.deep.include({
      ...{ replicas: 6, stabilizedBy: at(6, 30), reason: 'ScaleUpStabilized' },
    });
  });

  it('scales down at most to the highest recommendation of its window', () => {
    expect(stabilize([2, 8], [at(5, 299), at(7, 301)])).to.deep.include({
      ...{ replicas: 5, stabilizedBy: at(5, 299), reason: 'ScaleDownStabilized' },
    });
  });

  it('stays between the two', () => {
    expect(stabilize([9, 4], [at(2, 30)]).replicas).to.equal(4);
    expect(stabilize([2, 4], [at(9, 30)]).replicas).to.equal(4);
  });

  it('returns the proposal when no recommendation limits it', () => {
    expect(stabilize([9, 4], [at(2, 61)])).to.include({ replicas: 9, reason: 'ReadyForNewScale' });
    expect(stabilize([2, 4], [at(9, 301)])).to.include({ replicas: 2, reason: 'ReadyForNewScale' });
  });

  it('overwrites only entries that are outdated for both windows', () => {
    expect(stabilize([3, 3], [at(3, 100)]).recommendations).to.deep.equal([at(3, 100), at(3, 0)]);
    expect(stabilize([3, 3], [at(3, 301)]).recommendations).to.deep.equal([at(3, 0)]);
    expect(stabilize([3, 3], [at(3, 0)], [0, 0]).recommendations).to.deep.equal([at(3, 0)]);
  });
});

const WINDOW = { windowMs: 300_000, nowMs: NOW_MS };

describe('stabilizeWithoutBehavior', () => {
  it('returns the highest recommendation of the window', () => {
    const earlier = [at(9, 301), at(7, 300), at(5, 10)];
    expect(stabilizeWithoutBehavior(3, earlier, WINDOW)).to.deep.include({
      ...{ replicas: 7, proposed: 3, stabilizedBy: at(7, 300), reason: 'ScaleDownStabilized' },
      recommendations: [at(3, 0), at(7, 300), at(5, 10)],
    });
  });

  it('returns the proposal when it is the highest', () => {
    const stabilization = stabilizeWithoutBehavior(8, [at(7, 10)], WINDOW);
    expect(stabilization).to.deep.include({ replicas: 8, reason: 'ReadyForNewScale' });
    expect(stabilization).to.not.have.property('heldBy');
    expect(stabilization.recommendations).to.deep.equal([at(7, 10), at(8, 0)]);
  });

  it('overwrites the last outdated entry', () => {
    const earlier = [at(1, 400), at(2, 100), at(3, 500), at(4, 50)];
    expect(stabilizeWithoutBehavior(5, earlier, WINDOW).recommendations).to.deep.equal([
      ...[at(1, 400), at(2, 100), at(5, 0), at(4, 50)],
    ]);
  });

  it('ignores all recommendations with a window of length 0', () => {
    const stabilization = stabilizeWithoutBehavior(3, [at(9, 0)], { windowMs: 0, nowMs: NOW_MS });
    expect(stabilization).to.deep.include({ replicas: 3, recommendations: [at(3, 0)] });
  });
});

const UNLIMITED = { factor: 0, minimum: 0 };

describe('defaultLimit', () => {
  const CASES: readonly [recommended: number, current: number, replicas: number, reason: string][] = [
    [5, 5, 5, 'DesiredWithinRange'],
    [1, 5, 2, 'TooFewReplicas'],
    [2, 5, 2, 'DesiredWithinRange'],
    [9, 5, 9, 'DesiredWithinRange'],
    [12, 5, 10, 'ScaleUpLimit'],
    [5, 1, 4, 'ScaleUpLimit'],
    [10, 5, 10, 'DesiredWithinRange'],
    [17, 8, 16, 'TooManyReplicas'],
    [16, 9, 16, 'DesiredWithinRange'],
    [17, 9, 16, 'TooManyReplicas'],
  ];
  for (const [recommended, currentReplicas, replicas, reason] of CASES) {
    it(`limits ${recommended} to ${replicas} at ${currentReplicas}`, () => {
      const range = { currentReplicas, minReplicas: 2, maxReplicas: 16 };
      expect(defaultLimit(recommended, range, UNLIMITED)).to.include({ replicas, reason });
      expect(defaultLimit(recommended, range, UNLIMITED)).to.not.have.property('scaleDownLimit');
    });
  }

  it('doubles beyond 32 bits without overflow', () => {
    const range = { currentReplicas: 2 ** 30 + 1, minReplicas: 1, maxReplicas: 2 ** 31 - 1 };
    expect(defaultLimit(2 ** 31 - 1, range, UNLIMITED).replicas).to.equal(2 ** 31 - 1);
  });

  describe('with a limit for scaling down', () => {
    const CASES: readonly [
      recommended: number,
      current: number,
      limit: readonly [factor: number, minimum: number],
      replicas: number,
      reason: string,
    ][] = [
      [2, 10, [0.5, 0], 5, 'ScaleDownLimit'],
      [4, 10, [0.5, 0], 5, 'ScaleDownLimit'],
      [5, 10, [0.5, 0], 5, 'DesiredWithinRange'],
      [6, 10, [0.5, 0], 6, 'DesiredWithinRange'],
      [2, 10, [0.5, 5], 5, 'ScaleDownLimit'],
      [2, 10, [0.5, 6], 6, 'ScaleDownLimit'],
      [2, 10, [0, 6], 6, 'ScaleDownLimit'],
      [6, 10, [0, 6], 6, 'DesiredWithinRange'],
      [2, 5, [0.9, 0], 4, 'ScaleDownLimit'],
      [2, 10, [1, 0], 10, 'ScaleDownLimit'],
      [1, 10, [0.1, 0], 2, 'TooFewReplicas'],
      [1, 10, [0.2, 0], 2, 'TooFewReplicas'],
      [1, 10, [0.3, 0], 3, 'ScaleDownLimit'],
      // A target below the minimum of the limit is not scaled up by it.
      [2, 3, [0.5, 6], 3, 'ScaleDownLimit'],
      [3, 3, [0.5, 6], 3, 'DesiredWithinRange'],
      [4, 3, [0.5, 6], 4, 'DesiredWithinRange'],
      [17, 9, [0.5, 6], 16, 'TooManyReplicas'],
      [2, 100, [0.29, 0], 29, 'ScaleDownLimit'],
    ];
    for (const [recommended, currentReplicas, [factor, minimum], replicas, reason] of CASES) {
      it(`limits ${recommended} to ${replicas} at ${currentReplicas} with factor ${factor} and minimum ${minimum}`, () => {
        const range = { currentReplicas, minReplicas: 2, maxReplicas: 16 };
        expect(defaultLimit(recommended, range, { factor, minimum })).to.include({ replicas, reason });
      });
    }

    it('returns the limit if it scales down', () => {
      const range = { currentReplicas: 10, minReplicas: 2, maxReplicas: 16 };
      const limit = { factor: 0.5, minimum: 4 };
      expect(defaultLimit(3, range, limit).scaleDownLimit).to.deep.equal({ ...limit, replicas: 5 });
      expect(defaultLimit(9, range, limit).scaleDownLimit).to.deep.equal({ ...limit, replicas: 5 });
      expect(defaultLimit(10, range, limit)).to.not.have.property('scaleDownLimit');
      expect(defaultLimit(11, range, limit)).to.not.have.property('scaleDownLimit');
    });
  });
});

const event = (change: number, secondsAgo: number) => ({ change, atMs: NOW_MS - secondsAgo * 1000 });
const pods = (value: number, periodSeconds = 60) => ({ type: 'Pods', value, periodSeconds });
const percent = (value: number, periodSeconds = 60) => ({ type: 'Percent', value, periodSeconds });

function limit(
  recommended: number,
  behavior: HpaBehavior,
  memory: Partial<ScalingState> = {},
  currentReplicas = 10,
) {
  return policyLimit(
    recommended,
    { currentReplicas, minReplicas: 2, maxReplicas: 50 },
    { behavior, memory: { ...EMPTY_STATE, ...memory }, nowMs: NOW_MS },
  );
}

describe('policyLimit', () => {
  it('returns the recommendation when it equals the current replicas', () => {
    expect(limit(10, {})).to.deep.equal({
      ...{ replicas: 10, reason: 'DesiredWithinRange' },
      message: 'the desired count is within the acceptable range',
    });
  });

  it('applies the widest policy, or the narrowest with selectPolicy Min', () => {
    const policies = [pods(3), percent(50)];
    expect(limit(40, { scaleUp: { policies } })).to.include({ replicas: 15, reason: 'ScaleUpLimit' });
    expect(limit(40, { scaleUp: { policies, selectPolicy: 'Min' } })).to.include({ replicas: 13 });
    expect(limit(2, { scaleDown: { policies } })).to.include({ replicas: 5, reason: 'ScaleDownLimit' });
    expect(limit(2, { scaleDown: { policies, selectPolicy: 'Min' } })).to.include({ replicas: 7 });
  });

  it('does not scale when the policy is Disabled', () => {
    const rules = { policies: [pods(5)], selectPolicy: 'Disabled' };
    expect(limit(40, { scaleUp: rules })).to.deep.include({
      replicas: 10,
      reason: 'ScaleUpLimit',
      policies: [],
    });
    expect(limit(2, { scaleDown: rules })).to.include({ replicas: 10, reason: 'ScaleDownLimit' });
  });

  it('rounds percentages up when scaling up, and the rest down when scaling down', () => {
    expect(limit(40, { scaleUp: { policies: [percent(1)] } }).replicas).to.equal(11);
    expect(limit(2, { scaleDown: { policies: [percent(1)] } }).replicas).to.equal(9);
  });

  it('returns a recommendation that equals the limit', () => {
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

  it('is not affected by rounding errors', () => {
    const range = { currentReplicas: 10, minReplicas: 0, maxReplicas: 50 };
    const input = {
      behavior: { scaleDown: { policies: [percent(80)] } },
      memory: EMPTY_STATE,
      nowMs: NOW_MS,
    };
    expect(policyLimit(0, range, input).replicas).to.equal(1); // 10 * (1 - 0.8) is slightly below 2
  });

  it('counts from the start of the period', () => {
    const memory = { scaleUpEvents: [event(4, 30), event(9, 61)], scaleDownEvents: [event(1, 59)] };
    const { replicas, policies } = limit(40, { scaleUp: { policies: [pods(5)] } }, memory);
    expect(replicas).to.equal(12);
    expect(policies).to.deep.equal([{ ...pods(5), periodStartReplicas: 7, replicas: 12 }]);
    expect(limit(2, { scaleDown: { policies: [percent(50)] } }, memory).replicas).to.equal(3);
  });

  it('stays when the period is used up, in both directions', () => {
    const spent = { scaleUpEvents: [event(8, 30)] };
    expect(limit(40, { scaleUp: { policies: [pods(5)] } }, spent)).to.include({ replicas: 10 });
    const back = { scaleDownEvents: [event(8, 30)] };
    expect(limit(2, { scaleDown: { policies: [pods(5)] } }, back)).to.include({ replicas: 10 });
  });

  it('respects minimum and maximum', () => {
    expect(limit(99, { scaleUp: { policies: [pods(40)] } })).to.include({
      replicas: 50,
      reason: 'TooManyReplicas',
    });
    expect(limit(0, { scaleDown: { policies: [pods(8)] } })).to.include({
      replicas: 2,
      reason: 'TooFewReplicas',
    });
  });

  it('treats a percentage beyond 32 bits as no limit, and wraps a number of pods', () => {
    const max = 2 ** 31 - 1;
    expect(limit(40, { scaleUp: { policies: [percent(max)] } }, {}, 30).replicas).to.equal(40);
    expect(limit(50, { scaleUp: { policies: [percent(max)] } }, {}, 49).policies?.[0]?.replicas).to.equal(
      Math.ceil(49 * (1 + max / 100)),
    );
    expect(
      policyLimit(
        max,
        { currentReplicas: 200, minReplicas: 1, maxReplicas: max },
        { behavior: { scaleUp: { policies: [percent(max)] } }, memory: EMPTY_STATE, nowMs: NOW_MS },
      ).replicas,
    ).to.equal(max);
    expect(limit(40, { scaleUp: { policies: [pods(max)] } }).replicas).to.equal(10);
  });
});
