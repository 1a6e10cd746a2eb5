import { expect } from 'chai';
import fc from 'fast-check';
import { conclude } from '#lib/hpa/decision/conclude.ts';
import { decide } from '#lib/hpa/decision/decide.ts';
import { DEFAULT_HPA_CONFIG } from '#lib/hpa/decision/decision-input.ts';
import { type HpaMemory, NO_MEMORY } from '#lib/hpa/decision/scaling-state.ts';
import { isOutdated, keptMemory, keptWindows, restoredMemory } from '#lib/hpa/memory/kept-memory.ts';
import { formatRecord, parseRecord } from '#lib/hpa/memory/memory-record.ts';
import type { HpaBehavior } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { builtInput, NOW_MS } from '../built-world.ts';

const WINDOWS = { scaleUpWindowMs: 0, scaleDownWindowMs: 300_000, scaleUpPeriodMs: 0, scaleDownPeriodMs: 0 };
const PERIOD_MS = 15_000;

describe('keptMemory', () => {
  it('keeps what is higher or lower than all that came later', () => {
    const memory = {
      ...NO_MEMORY,
      recommendations: [9, 3, 7, 4, 5, 5].map((replicas, place) => ({ replicas, atMs: place * 1000 })),
    };
    const { recommendations, latest } = keptMemory(memory, WINDOWS, 5000);
    expect(recommendations.map(({ replicas }) => replicas)).to.deep.equal([9, 3, 7, 4]);
    expect(latest).to.deep.equal({ replicas: 5, atMs: 5000 });
  });

  it('is not outdated by the same recommendation, nor by time', () => {
    const at = (atMs: number, ...earlier: HpaMemory['recommendations']) =>
      keptMemory({ ...NO_MEMORY, recommendations: [...earlier, { replicas: 5, atMs }] }, WINDOWS, atMs);
    const kept = at(1000, { replicas: 9, atMs: 0 });
    expect(isOutdated(kept, at(200_000, { replicas: 9, atMs: 0 }), WINDOWS, 200_000)).to.equal(false);
    expect(isOutdated(kept, at(400_000), WINDOWS, 400_000)).to.equal(false);
    expect(isOutdated(kept, at(200_000), WINDOWS, 200_000)).to.equal(true);
    const lower = keptMemory({ ...NO_MEMORY, recommendations: [{ replicas: 4, atMs: 2000 }] }, WINDOWS, 2000);
    expect(isOutdated(kept, lower, WINDOWS, 2000)).to.equal(true);
  });

  const policies = [{ type: 'Pods', value: 2, periodSeconds: 60 }];
  const behaviors: readonly (HpaBehavior | undefined)[] = [
    undefined,
    { scaleUp: { stabilizationWindowSeconds: 60, policies }, scaleDown: { policies } },
    { scaleUp: { policies }, scaleDown: { stabilizationWindowSeconds: 120, policies } },
  ];
  for (const behavior of behaviors) {
    it(`changes no later decision with ${JSON.stringify(behavior)}`, () => {
      const loads = fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 2, maxLength: 60 });
      fc.assert(
        fc.property(loads, fc.nat(), (values, choice) => {
          const killedAfter = choice % values.length;
          expect(play(values, behavior, killedAfter)).to.deep.equal(play(values, behavior, undefined));
        }),
      );
    });
  }
});

/** Decides every 15 s, and after one decision goes on with what was kept, which is written only when outdated. */
function play(
  loads: readonly number[],
  behavior: HpaBehavior | undefined,
  killedAfter: number | undefined,
): readonly number[] {
  let memory = NO_MEMORY;
  let replicas = 3;
  let text: string | undefined;
  const taken: number[] = [];
  loads.forEach((load, place) => {
    const nowMs = NOW_MS + place * PERIOD_MS;
    const input = builtInput({
      spec: { maxReplicas: 50, ...(behavior && { behavior }) },
      scale: { specReplicas: replicas, statusReplicas: replicas, selector: 'app=web' },
      readings: [{ values: [String(load)] }],
      memory,
      nowMs,
    });
    const outcome = conclude(decide(input), input.hpa, { nowMs });
    ({ memory } = outcome);
    replicas = outcome.desiredReplicas ?? replicas;
    taken.push(replicas);
    const windows = keptWindows(input.hpa.spec, DEFAULT_HPA_CONFIG);
    const kept = keptMemory(memory, windows, nowMs);
    const before = text === undefined ? undefined : parseRecord(text);
    if (!before || isOutdated(before, kept, windows, nowMs)) text = formatRecord({ ...kept, uid: 'u' });
    const record = parseRecord(text ?? '');
    if (!record) throw new Error('what was written is a record');
    if (place === killedAfter) memory = restoredMemory(record, nowMs);
  });
  return taken;
}
