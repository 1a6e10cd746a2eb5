import { expect } from 'chai';
import { type DecisionInput, decide } from '#lib/scaled-objects/decision/decide.ts';
import { nextStep } from '#lib/scaled-objects/decision/next-step.ts';

const NOW_MS = 1_000_000;
const RESTING: DecisionInput = {
  ...{ replicas: 0, minReplicas: undefined, idleReplicas: undefined, isActive: false, hasError: false },
  ...{ hasFallback: false, isForced: false, isScaleInPaused: false, isScaleOutPaused: false },
  ...{ nowMs: NOW_MS, createdAtMs: 0, lastActiveAtMs: undefined, cooldownMs: 300_000, initialCooldownMs: 0 },
};

describe('nextStep', () => {
  for (const [more, what, atMs] of [
    [{}, 'scale to 1 once a trigger is active'],
    [{ minReplicas: 3, idleReplicas: 0 }, 'scale to 3 once a trigger is active'],
    [{ replicas: 4, isActive: true }, 'leave the replicas to the HPA for as long as a trigger is active'],
    [
      { replicas: 4, lastActiveAtMs: NOW_MS - 100_000 },
      'scale to 0, unless a trigger is active by then',
      NOW_MS + 200_001,
    ],
    [
      { replicas: 4, minReplicas: 2, idleReplicas: 1, lastActiveAtMs: NOW_MS },
      'scale to 1, unless a trigger is active by then',
      NOW_MS + 300_001,
    ],
    [{ replicas: 4, hasError: true }, 'do nothing until a trigger responds'],
    [{ replicas: 4, isScaleInPaused: true }, 'scale to 0 once that is no longer paused'],
    [{ isActive: true, isScaleOutPaused: true }, 'scale out once that is no longer paused'],
    [{ replicas: 2, minReplicas: 2 }, 'leave the replicas to the HPA'],
    [{ replicas: 1, minReplicas: 3, idleReplicas: 1 }, 'scale to 3 once a trigger is active'],
    [
      { replicas: 4, minReplicas: 2, idleReplicas: 1, isScaleInPaused: true },
      'scale to 1 once that is no longer paused',
    ],
    [{ replicas: 2, minReplicas: 2, isScaleInPaused: true }, 'leave the replicas to the HPA'],
    [
      { replicas: 4, minReplicas: 2, idleReplicas: 1, isActive: true, isScaleOutPaused: true },
      'leave the replicas to the HPA for as long as a trigger is active',
    ],
    [
      { replicas: 1, minReplicas: 2, idleReplicas: 1, isActive: true, isScaleOutPaused: true },
      'scale out once that is no longer paused',
    ],
    [
      { replicas: 4, isForced: true, isScaleOutPaused: true },
      'leave the replicas to the HPA for as long as a trigger is active',
    ],
    [{ replicas: 0, hasError: true }, 'do nothing until a trigger responds'],
  ] as const)
    it(`is to ${what}, of ${JSON.stringify(more)}`, () => {
      const input = { ...RESTING, ...more };
      expect(nextStep(input, decide(input))).to.deep.equal({ what, atMs });
    });
});
