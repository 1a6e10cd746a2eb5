import { expect } from 'chai';
import fc from 'fast-check';
import { policyLimit, stabilizeWithBehavior } from '#lib/hpa/decision/behavior.ts';
import { decide } from '#lib/hpa/decision/decide.ts';
import type { PodUsage } from '#lib/hpa/decision/decision-input.ts';
import type { HpaBehavior } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { builtInput, builtPod, NOW_MS } from '../built-inputs.ts';
import {
  type PlainBehavior,
  type PlainPast,
  type PlainPod,
  type PlainRules,
  plainBehavior,
  plainUtilization,
} from './plain-decision.ts';

const RUNS = { numRuns: 2000 };

describe('decide by CPU utilization', () => {
  const pod = fc.record<PlainPod>({
    state: fc.constantFrom('ready', 'ready', 'ready', 'unready', 'missing', 'ignored'),
    used: fc.integer({ min: 0, max: 400 }),
    requested: fc.integer({ min: 1, max: 300 }),
  });

  it('proposes the same as a plain model, for pods in any state', () => {
    fc.assert(
      fc.property(
        fc.array(pod, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom(0, 0.05, 0.1, 0.3),
        fc.integer({ min: 1, max: 12 }),
        (pods, target, tolerance, current) => {
          const expected = plainUtilization(pods, { target, tolerance, current });
          expect(proposedOf(pods, target, tolerance, current)).to.equal(expected);
        },
      ),
      RUNS,
    );
  });

  function proposedOf(pods: readonly PlainPod[], target: number, tolerance: number, current: number) {
    const input = builtInput({
      scale: { specReplicas: current, statusReplicas: current, selector: 'app=web' },
      spec: {
        maxReplicas: 1_000_000,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } },
          },
        ],
      },
      pods: pods.map((plain, index) => scaledPodOf(plain, index)),
      readings: [{ podUsage: pods.flatMap((plain, index) => usageOf(plain, index)) }],
    });
    return decide({ ...input, config: { ...input.config, tolerance } }).explanation.proposedReplicas;
  }

  function scaledPodOf({ state, requested }: PlainPod, index: number) {
    const containers = [{ name: 'app', requests: { cpu: `${requested}m` } }];
    const unready = { ready: { status: 'False', changedAtMs: NOW_MS - 3_600_000 } };
    return builtPod(`web-${index}`, {
      containers,
      ...(state === 'unready' ? unready : {}),
      ...(state === 'ignored' ? { isDeleting: true } : {}),
    });
  }

  function usageOf({ state, used }: PlainPod, index: number): PodUsage[] {
    if (state === 'missing') return [];
    const containers = [{ name: 'app', usage: { cpu: `${used}m` } }];
    return [{ pod: `web-${index}`, takenAtMs: NOW_MS - 20_000, windowMs: 30_000, containers }];
  }
});

describe('stabilizeWithBehavior and policyLimit', () => {
  // No age is at the end of a window or period, where a millisecond would make a difference.
  const ages = fc.integer({ min: 1, max: 700 }).map((age) => age + 0.5);
  const periods = fc.constantFrom(15, 60, 300, 600);
  const rules = fc.record<PlainRules>({
    window: fc.constantFrom(0, 60, 300, 600),
    select: fc.constantFrom('Max', 'Max', 'Min', 'Disabled'),
    policies: fc.array(
      fc.record({
        type: fc.constantFrom('Pods' as const, 'Percent' as const),
        // Percentages that floating-point numbers represent exactly; recordings cover the others.
        value: fc.constantFrom(25, 50, 75, 100),
        period: periods,
      }),
      { minLength: 1, maxLength: 3 },
    ),
  });
  const events = fc.array(fc.tuple(ages, fc.integer({ min: 1, max: 20 })), { maxLength: 4 });
  const past = fc.record<PlainPast>({
    recommended: fc.array(fc.tuple(ages, fc.integer({ min: 0, max: 60 })), { maxLength: 6 }),
    added: events,
    removed: events,
  });
  const behavior = fc.record<PlainBehavior>({
    ...{ up: rules, down: rules, min: fc.constant(1), max: fc.integer({ min: 40, max: 60 }) },
  });

  it('limit the same as a plain model', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 80 }),
        fc.integer({ min: 1, max: 40 }),
        past,
        behavior,
        (proposed, current, past, behavior) => {
          const expected = plainBehavior(proposed, current, { past, behavior });
          expect(limitedOf(proposed, current, { past, behavior })).to.equal(expected);
        },
      ),
      RUNS,
    );
  });

  function limitedOf(
    proposed: number,
    currentReplicas: number,
    { past, behavior }: { readonly past: PlainPast; readonly behavior: PlainBehavior },
  ): number {
    const atMs = (secondsAgo: number) => NOW_MS - secondsAgo * 1000;
    const eventsOf = (list: PlainPast['added']) => list.map(([ago, change]) => ({ change, atMs: atMs(ago) }));
    const recommendations = past.recommended.map(([ago, replicas]) => ({ replicas, atMs: atMs(ago) }));
    const { replicas } = stabilizeWithBehavior({ proposed, currentReplicas }, recommendations, {
      scaleUpWindowMs: behavior.up.window * 1000,
      scaleDownWindowMs: behavior.down.window * 1000,
      nowMs: NOW_MS,
    });
    const rulesOf = ({ select, policies }: PlainRules) => ({
      selectPolicy: select,
      policies: policies.map(({ type, value, period }) => ({ type, value, periodSeconds: period })),
    });
    const hpaBehavior: HpaBehavior = { scaleUp: rulesOf(behavior.up), scaleDown: rulesOf(behavior.down) };
    const memory = {
      recommendations,
      scaleUpEvents: eventsOf(past.added),
      scaleDownEvents: eventsOf(past.removed),
    };
    const range = { currentReplicas, minReplicas: behavior.min, maxReplicas: behavior.max };
    return policyLimit(replicas, range, { behavior: hpaBehavior, memory, nowMs: NOW_MS }).replicas;
  }
});

describe('decide', () => {
  it('iterates over many pods once', () => {
    // Not a measurement: only quadratic time would exceed mocha's timeout.
    const pods = Array.from({ length: 20_000 }, (_, index) => builtPod(`web-${index}`));
    const podUsage = pods.map(({ name }) => ({
      ...{ pod: name, takenAtMs: NOW_MS - 20_000, windowMs: 30_000 },
      containers: [{ name: 'app', usage: { cpu: '70m' } }],
    }));
    const metric = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } };
    const { explanation } = decide(
      builtInput({
        scale: { specReplicas: 20_000, statusReplicas: 20_000, selector: 'app=web' },
        spec: { maxReplicas: 1_000_000, metrics: [{ type: 'Resource', resource: metric }] },
        ...{ pods, readings: [{ podUsage }] },
      }),
    );
    expect(explanation.proposedReplicas).to.equal(28_000);
  });
});
