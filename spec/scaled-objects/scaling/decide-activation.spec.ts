import { expect } from 'chai';
import {
  type Decision,
  type DecisionInput,
  decide,
  nextStep,
} from '#lib/scaled-objects/scaling/decide-activation.ts';

const NOW_MS = 1_000_000;

const QUIET: DecisionInput = {
  replicas: 3,
  minReplicas: undefined,
  idleReplicas: undefined,
  isActive: false,
  hasError: false,
  hasFallback: false,
  isForced: false,
  isScaleInPaused: false,
  isScaleOutPaused: false,
  nowMs: NOW_MS,
  createdAtMs: 0,
  lastActiveAtMs: NOW_MS - 300_001,
  cooldownMs: 300_000,
  initialCooldownMs: 0,
};

const CASES: readonly [
  row: string,
  what: string,
  input: Partial<DecisionInput>,
  decision: Partial<Decision>,
][] = [
  [
    'A1',
    'wakes at 0',
    { isActive: true, replicas: 0 },
    { action: 'activate', replicas: 1, active: 'ScalerActive', isActiveNow: true },
  ],
  [
    'A1',
    'wakes at 0 to min',
    { isActive: true, replicas: 0, minReplicas: 4 },
    { action: 'activate', replicas: 4 },
  ],
  [
    'A1',
    'wakes from idle',
    { isActive: true, replicas: 1, idleReplicas: 1, minReplicas: 2 },
    { action: 'activate', replicas: 2 },
  ],
  [
    'A1',
    'wakes though another trigger fails',
    { isActive: true, hasError: true, replicas: 0 },
    { action: 'activate', ready: 'Ready' },
  ],
  [
    'A1',
    'wakes by annotation',
    { isForced: true, replicas: 0 },
    { action: 'activate', replicas: 1, active: 'ForcedActive' },
  ],
  [
    'A1',
    'does not wake while scaling out is paused',
    { isActive: true, replicas: 0, isScaleOutPaused: true },
    { action: 'none', active: 'ScalerActive', ready: 'Ready', isActiveNow: false },
  ],
  [
    'A2',
    'lets the cooldown run while a trigger fails',
    { isActive: true, hasError: true },
    { action: 'none', ready: 'PartialTriggerError', isActiveNow: false },
  ],
  [
    'A3',
    'is active',
    { isActive: true },
    { action: 'none', ready: 'Ready', active: 'ScalerActive', isActiveNow: true },
  ],
  [
    'B1',
    'waits for the fallback',
    { hasError: true, hasFallback: true },
    { action: 'none', ready: 'Ready', active: 'ScalerNotActive' },
  ],
  [
    'B2',
    'tells that all triggers fail, and scales nothing',
    { hasError: true },
    { action: 'none', ready: 'TriggerError', active: 'ScalerNotActive' },
  ],
  [
    'B3',
    'scales any number to zero',
    { replicas: 9 },
    { action: 'deactivate', replicas: 0, active: 'ScalerNotActive' },
  ],
  [
    'B3',
    'scales to idle',
    { replicas: 9, idleReplicas: 1, minReplicas: 2 },
    { action: 'deactivate', replicas: 1 },
  ],
  [
    'B3',
    'cools down first, to the millisecond',
    { lastActiveAtMs: NOW_MS - 300_000 },
    { action: 'none', active: 'ScalerCooldown', againAtMs: NOW_MS + 1 },
  ],
  [
    'B3',
    'counts the first cooldown from its creation',
    { lastActiveAtMs: undefined, createdAtMs: NOW_MS - 10, initialCooldownMs: 60_000 },
    { action: 'none', active: 'ScalerCooldown', againAtMs: NOW_MS + 59_991 },
  ],
  [
    'B3',
    'needs no first cooldown',
    { lastActiveAtMs: undefined, createdAtMs: NOW_MS - 10 },
    { action: 'deactivate', replicas: 0 },
  ],
  [
    'B3',
    'does not scale in while that is paused',
    { isScaleInPaused: true },
    { action: 'none', active: 'ScalerNotActive' },
  ],
  [
    'B4',
    'raises to min',
    { replicas: 1, minReplicas: 2 },
    { action: 'raise', replicas: 2, active: 'ScalerNotActive' },
  ],
  [
    'B5',
    'leaves what lies above min to the HPA',
    { replicas: 5, minReplicas: 2 },
    { action: 'none', ready: 'Ready' },
  ],
  ['B5', 'leaves zero', { replicas: 0 }, { action: 'none', active: 'ScalerNotActive' }],
  ['B5', 'leaves idle', { replicas: 1, idleReplicas: 1, minReplicas: 2 }, { action: 'none' }],
];

describe('decide', () => {
  for (const [row, what, input, decision] of CASES)
    it(`${what} (${row})`, () => {
      expect(decide({ ...QUIET, ...input })).to.deep.include(decision);
    });
});

const RESTING: DecisionInput = {
  ...{ replicas: 0, minReplicas: undefined, idleReplicas: undefined, isActive: false, hasError: false },
  ...{ hasFallback: false, isForced: false, isScaleInPaused: false, isScaleOutPaused: false },
  ...{ nowMs: NOW_MS, createdAtMs: 0, lastActiveAtMs: undefined, cooldownMs: 300_000, initialCooldownMs: 0 },
};

describe('nextStep', () => {
  for (const [more, what, atMs] of [
    [{}, 'scale to 1 once a trigger is active'],
    [{ minReplicas: 3, idleReplicas: 0 }, 'scale to 3 once a trigger is active'],
    [{ replicas: 4, isActive: true }, 'leave the replicas to the HPA while a trigger is active'],
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
    [{ replicas: 4, isScaleInPaused: true }, 'scale to 0 once the scale-in is no longer paused'],
    [{ isActive: true, isScaleOutPaused: true }, 'scale out once the scale-out is no longer paused'],
    [{ replicas: 2, minReplicas: 2 }, 'leave the replicas to the HPA'],
    [{ replicas: 1, minReplicas: 3, idleReplicas: 1 }, 'scale to 3 once a trigger is active'],
    [
      { replicas: 4, minReplicas: 2, idleReplicas: 1, isScaleInPaused: true },
      'scale to 1 once the scale-in is no longer paused',
    ],
    [{ replicas: 2, minReplicas: 2, isScaleInPaused: true }, 'leave the replicas to the HPA'],
    [
      { replicas: 4, minReplicas: 2, idleReplicas: 1, isActive: true, isScaleOutPaused: true },
      'leave the replicas to the HPA while a trigger is active',
    ],
    [
      { replicas: 1, minReplicas: 2, idleReplicas: 1, isActive: true, isScaleOutPaused: true },
      'scale out once the scale-out is no longer paused',
    ],
    [
      { replicas: 4, isForced: true, isScaleOutPaused: true },
      'leave the replicas to the HPA while a trigger is active',
    ],
    [{ replicas: 0, hasError: true }, 'do nothing until a trigger responds'],
  ] as const)
    it(`is to ${what}, of ${JSON.stringify(more)}`, () => {
      const input = { ...RESTING, ...more };
      expect(nextStep(input, decide(input))).to.deep.equal({ what, atMs });
    });
});
