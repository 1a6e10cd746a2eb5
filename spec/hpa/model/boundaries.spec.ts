import { expect } from 'chai';
import fc from 'fast-check';
import { policyLimit, stabilizeWithBehavior, stabilizeWithoutBehavior } from '#lib/hpa/decision/behavior.ts';
import { decide } from '#lib/hpa/decision/decide.ts';
import { type GroupingTimes, groupPods } from '#lib/hpa/decision/replica-calculator.ts';
import type { MetricSpec, MetricTarget } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { builtInput, builtPod, NOW_MS } from '../built-inputs.ts';
import { type PlainAges, type PlainPod, plainAverage, plainState } from './plain-decision.ts';

const RUNS = { numRuns: 2000 };
const agoMs = (seconds: number) => NOW_MS - seconds * 1000;
/** Each number, one less, and one more. */
const around = (...numbers: readonly number[]) =>
  fc.constantFrom(...numbers.flatMap((number) => [number - 1, number, number + 1]));
const STATES = ['ready', 'ready', 'ready', 'unready', 'missing', 'ignored'] as const;

describe('decide with pods around their target', () => {
  // A power of two and its eighths are exact as floating-point numbers, so the model uses integers.
  const [TARGET, EIGHTH] = [128, 16];
  const eighths = fc.constantFrom(0, 1, 2);
  const used = around(TARGET, ...[-2, -1, 1, 2].map((count) => TARGET + count * EIGHTH), 2 * TARGET);
  const pods = fc.array(fc.record({ state: fc.constantFrom(...STATES), used }), {
    minLength: 1,
    maxLength: 9,
  });
  const tolerances = fc.record({ down: eighths, up: eighths });

  it('proposes the same as a model in integers', () => {
    fc.assert(
      fc.property(pods, tolerances, fc.integer({ min: 1, max: 12 }), (some, tolerance, current) => {
        const expected = plainAverage(some, { target: TARGET, tolerance, current });
        for (const metric of ['resource', 'pods'] as const) {
          // Readiness matters only for CPU; for other metrics, pending pods are unready.
          expect(proposedOf(some, { metric, tolerance, current }), metric).to.equal(expected);
        }
      }),
      RUNS,
    );
  });

  it('stays while counted pods are exactly at the target', () => {
    const others = fc.array(fc.constantFrom('unready', 'missing', 'ignored' as const), { maxLength: 9 });
    const current = fc.integer({ min: 1, max: 12 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        others,
        tolerances,
        current,
        (count, states, tolerance, current) => {
          const all = [
            ...Array.from({ length: count }, () => ({ state: 'ready' as const, used: TARGET })),
            ...states.map((state) => ({ state, used: 0 })),
          ];
          for (const metric of ['resource', 'pods', 'utilization'] as const)
            expect(proposedOf(all, { metric, tolerance, current }), metric).to.equal(current);
        },
      ),
      RUNS,
    );
  });

  it('stays while a total is exactly at the target', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 1000 }), (replicas, target) => {
        const value = totalProposal(replicas, { type: 'Value', value: `${target}m` }, `${target}m`);
        expect(value).to.equal(replicas);
        const average = { type: 'AverageValue', averageValue: `${target}m` };
        expect(totalProposal(replicas, average, `${target * replicas}m`)).to.equal(replicas);
      }),
    );
  });

  function totalProposal(replicas: number, target: MetricTarget, total: string) {
    const metrics: MetricSpec[] = [{ type: 'External', external: { metric: { name: 'queue' }, target } }];
    const input = builtInput({
      scale: { specReplicas: replicas, statusReplicas: replicas, selector: 'app=web' },
      spec: { maxReplicas: 1000, metrics },
      readings: [{ values: [total] }],
    });
    return decide({ ...input, config: { ...input.config, tolerance: 0 } }).explanation.proposedReplicas;
  }

  function proposedOf(
    plain: readonly Pick<PlainPod, 'state' | 'used'>[],
    {
      metric,
      tolerance,
      current,
    }: {
      readonly metric: 'resource' | 'pods' | 'utilization';
      readonly tolerance: { readonly down: number; readonly up: number };
      readonly current: number;
    },
  ) {
    const input = builtInput({
      scale: { specReplicas: current, statusReplicas: current, selector: 'app=web' },
      spec: {
        maxReplicas: 1_000_000,
        metrics: [SPECS[metric]],
        behavior: {
          scaleUp: { tolerance: `${tolerance.up * 125}m`, policies: [] },
          scaleDown: { tolerance: `${tolerance.down * 125}m`, policies: [] },
        },
      },
      pods: plain.map(({ state }, index) =>
        builtPod(`web-${index}`, {
          containers: [{ name: 'app', requests: { cpu: `${TARGET}m` } }],
          ...(state === 'unready' ? { phase: 'Pending' } : {}),
          ...(state === 'ignored' ? { isDeleting: true } : {}),
        }),
      ),
      readings: [metric === 'pods' ? { podValues: valuesOf(plain) } : { podUsage: usageOf(plain) }],
    });
    const config = { ...input.config, configurableTolerance: true };
    return decide({ ...input, config }).explanation.proposedReplicas;
  }

  const average = { type: 'AverageValue', averageValue: `${TARGET}m` };
  const SPECS: Readonly<Record<'resource' | 'pods' | 'utilization', MetricSpec>> = {
    resource: { type: 'Resource', resource: { name: 'cpu', target: average } },
    pods: { type: 'Pods', pods: { metric: { name: 'qps' }, target: average } },
    utilization: {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 100 } },
    },
  };

  function valuesOf(plain: readonly Pick<PlainPod, 'state' | 'used'>[]) {
    return plain.flatMap(({ state, used }, index) =>
      state === 'missing' ? [] : { pod: `web-${index}`, value: `${used}m` },
    );
  }

  function usageOf(plain: readonly Pick<PlainPod, 'state' | 'used'>[]) {
    const sample = { takenAtMs: agoMs(20), windowMs: 30_000 };
    return valuesOf(plain).map(({ pod, value }) => ({
      ...{ pod, ...sample, containers: [{ name: 'app', usage: { cpu: value } }] },
    }));
  }
});

describe('groupPods with ages at the ends of periods', () => {
  const [INITIALIZATION, DELAY, WINDOW] = [300, 30, 15];
  const times: GroupingTimes = {
    nowMs: NOW_MS,
    cpuInitializationPeriodMs: INITIALIZATION * 1000,
    initialReadinessDelayMs: DELAY * 1000,
  };

  it('counts the same pods as a plain model', () => {
    const pod = fc
      .record({
        startedAgo: around(INITIALIZATION, 40),
        becameAfter: around(0, DELAY),
        sampledAfterChange: around(WINDOW, 0),
        ...{ isReady: fc.boolean(), hasSample: fc.boolean() },
        ...{
          isDeleting: fc.constantFrom(false, false, true),
          isPending: fc.constantFrom(false, false, true),
        },
      })
      .map(({ becameAfter, sampledAfterChange, hasSample, ...one }): PlainAges => {
        const changedAgo = one.startedAgo - becameAfter;
        const sample = { ago: changedAgo - sampledAfterChange, window: WINDOW };
        return { ...one, changedAgo, sample: hasSample ? sample : undefined };
      });
    fc.assert(
      fc.property(pod, (plain) => {
        expect(stateOf(plain)).to.equal(
          plainState(plain, { initialization: INITIALIZATION, readinessDelay: DELAY }),
        );
      }),
      RUNS,
    );
  });

  function stateOf({ isDeleting, isPending, isReady, startedAgo, changedAgo, sample }: PlainAges) {
    const pod = builtPod('web-0', {
      ...{ isDeleting, phase: isPending ? 'Pending' : 'Running', startedAtMs: agoMs(startedAgo) },
      ready: { status: isReady ? 'True' : 'False', changedAtMs: agoMs(changedAgo) },
    });
    const samples = sample && {
      ...{ thousandths: 1n, takenAtMs: agoMs(sample.ago), windowMs: sample.window * 1000 },
    };
    const groups = groupPods([pod], new Map(samples ? [['web-0', samples]] : []), { resource: 'cpu', times });
    if (groups.readyCount > 0) return 'ready';
    return (['unready', 'missing', 'ignored'] as const).find((state) => groups[state].length > 0);
  }
});

describe('limits with ages at the ends of periods', () => {
  const WINDOW = 60;

  it('apply a recommendation until its age is the window, and without behavior including that moment', () => {
    for (const ago of [WINDOW - 1, WINDOW, WINDOW + 1]) {
      const earlier = [{ replicas: 8, atMs: agoMs(ago) }];
      const windows = { scaleUpWindowMs: 0, scaleDownWindowMs: WINDOW * 1000, nowMs: NOW_MS };
      const down = stabilizeWithBehavior({ proposed: 2, currentReplicas: 8 }, earlier, windows);
      expect(down.replicas, `${ago}`).to.equal(ago < WINDOW ? 8 : 2);
      const up = stabilizeWithBehavior({ proposed: 9, currentReplicas: 2 }, earlier, {
        ...{ scaleUpWindowMs: WINDOW * 1000, scaleDownWindowMs: 0, nowMs: NOW_MS },
      });
      expect(up.replicas, `${ago}`).to.equal(ago < WINDOW ? 8 : 9);
      const without = stabilizeWithoutBehavior(2, earlier, { windowMs: WINDOW * 1000, nowMs: NOW_MS });
      expect(without.replicas, `${ago}`).to.equal(ago <= WINDOW ? 8 : 2);
    }
  });

  it('count a change until its age is the period of the policy', () => {
    const policies = [{ type: 'Pods', value: 4, periodSeconds: WINDOW }];
    for (const ago of [WINDOW - 1, WINDOW, WINDOW + 1]) {
      const change = [{ change: 3, atMs: agoMs(ago) }];
      const input = (scaleUpEvents: typeof change, scaleDownEvents: typeof change) => ({
        behavior: { scaleUp: { policies }, scaleDown: { policies } },
        memory: { recommendations: [], scaleUpEvents, scaleDownEvents },
        nowMs: NOW_MS,
      });
      const range = { currentReplicas: 10, minReplicas: 1, maxReplicas: 100 };
      expect(policyLimit(50, range, input(change, [])).replicas, `${ago}`).to.equal(ago < WINDOW ? 11 : 14);
      expect(policyLimit(1, range, input([], change)).replicas, `${ago}`).to.equal(ago < WINDOW ? 9 : 6);
    }
  });
});
