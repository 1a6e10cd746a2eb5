import { expect } from 'chai';
import fc from 'fast-check';
import { conclude } from '#lib/hpa/decision/conclude.ts';
import { decide } from '#lib/hpa/decision/decide.ts';
import { DEFAULT_HPA_CONFIG } from '#lib/hpa/decision/decision-input.ts';
import { EMPTY_STATE, type ScalingState } from '#lib/hpa/decision/scaling-state.ts';
import {
  findStateWindows,
  formatRecord,
  isOutdated,
  parseRecord,
  reduceState,
  restoreState,
  type StateRecord,
  withIntent,
} from '#lib/hpa/state/persisted-state.ts';
import type { HpaBehavior } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { builtInput, NOW_MS } from '#spec/hpa/built-inputs.ts';

const WINDOWS = { scaleUpWindowMs: 0, scaleDownWindowMs: 300_000, eventsMs: 0 };
const PERIOD_MS = 15_000;

describe('reduceState', () => {
  it('retains recommendations higher or lower than all later ones', () => {
    const memory = {
      ...EMPTY_STATE,
      recommendations: [9, 3, 7, 4, 5, 5].map((replicas, index) => ({ replicas, atMs: index * 1000 })),
    };
    const { recommendations, latest } = reduceState(memory, WINDOWS, 5000);
    expect(recommendations.map(({ replicas }) => replicas)).to.deep.equal([9, 3, 7, 4]);
    expect(latest).to.deep.equal({ replicas: 5, atMs: 5000 });
  });

  it('is not outdated by the same recommendation or by time', () => {
    const at = (atMs: number, ...earlier: ScalingState['recommendations']) =>
      reduceState({ ...EMPTY_STATE, recommendations: [...earlier, { replicas: 5, atMs }] }, WINDOWS, atMs);
    const retained = at(1000, { replicas: 9, atMs: 0 });
    expect(isOutdated(retained, at(200_000, { replicas: 9, atMs: 0 }), WINDOWS, 200_000)).to.equal(false);
    expect(isOutdated(retained, at(400_000), WINDOWS, 400_000)).to.equal(false);
    expect(isOutdated(retained, at(200_000), WINDOWS, 200_000)).to.equal(true);
    const lower = reduceState(
      { ...EMPTY_STATE, recommendations: [{ replicas: 4, atMs: 2000 }] },
      WINDOWS,
      2000,
    );
    expect(isOutdated(retained, lower, WINDOWS, 2000)).to.equal(true);
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

/** Decides every 15 s; after one decision, restarts from the persisted state, which is written only when outdated. */
function play(
  loads: readonly number[],
  behavior: HpaBehavior | undefined,
  killedAfter: number | undefined,
): readonly number[] {
  let memory = EMPTY_STATE;
  let replicas = 3;
  let text: string | undefined;
  const taken: number[] = [];
  loads.forEach((load, index) => {
    const nowMs = NOW_MS + index * PERIOD_MS;
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
    const windows = findStateWindows(input.hpa.spec, DEFAULT_HPA_CONFIG);
    const retained = reduceState(memory, windows, nowMs);
    const before = text === undefined ? undefined : parseRecord(text);
    if (!before || isOutdated(before, retained, windows, nowMs))
      text = formatRecord({ ...retained, uid: 'u' });
    const record = parseRecord(text ?? '');
    if (!record) throw new Error('what was written is a record');
    if (index === killedAfter) memory = restoreState(record, nowMs);
  });
  return taken;
}

const FULL: StateRecord = {
  uid: 'u',
  recommendations: [{ replicas: 8, atMs: 1000 }],
  latest: { replicas: 4, atMs: 2000 },
  scaleUpEvents: [{ change: 2, atMs: 3000 }],
  scaleDownEvents: [{ change: 1, atMs: 4000 }],
  intent: { from: 4, to: 6, atMs: 5000 },
};
const NOTHING: StateRecord = {
  ...{ uid: 'u', recommendations: [], latest: undefined, scaleUpEvents: [], scaleDownEvents: [] },
};

describe('formatRecord', () => {
  it('has a stable format, without empty fields', () => {
    expect(formatRecord(FULL)).to.equal(
      '{"uid":"u","recommendations":[[8,1000]],"latest":[4,2000],"scaleUps":[[2,3000]],"scaleDowns":[[1,4000]],"intent":[4,6,5000]}',
    );
    expect(formatRecord(NOTHING)).to.equal('{"uid":"u","recommendations":[]}');
  });
});

describe('parseRecord', () => {
  it('parses what formatRecord returns', () => {
    for (const record of [FULL, NOTHING]) expect(parseRecord(formatRecord(record))).to.deep.equal(record);
  });

  it('bounds the length and entries of a record', () => {
    const text = formatRecord(FULL);
    const max = text.padEnd(262_144);
    expect(parseRecord(max)).to.deep.equal(FULL);
    expect(parseRecord(`${max} `)).to.equal(undefined);
    const withMany = (count: number) => {
      const recommendations = Array.from({ length: count }, () => ({ replicas: 1, atMs: 1 }));
      return parseRecord(formatRecord({ ...NOTHING, recommendations }));
    };
    expect(withMany(4096)?.recommendations).to.have.lengthOf(4096);
    expect(withMany(4097)).to.equal(undefined);
  });

  for (const text of [
    ...['', 'text', '[]', 'null', '{"recommendations":[]}', '{"uid":"u"}', '{"uid":1,"recommendations":[]}'],
    '{"uid":"u","recommendations":[[1]]}',
    '{"uid":"u","recommendations":[[1.5,1]]}',
    '{"uid":"u","recommendations":[[1,-1]]}',
    '{"uid":"u","recommendations":[],"latest":[1]}',
    '{"uid":"u","recommendations":[],"scaleUps":[["1",1]]}',
    '{"uid":"u","recommendations":[],"scaleDowns":{}}',
    '{"uid":"u","recommendations":[],"intent":[1,2]}',
  ])
    it(`rejects ${text === '' ? 'an empty text' : text}`, () =>
      expect(parseRecord(text)).to.equal(undefined));
});

describe('withIntent', () => {
  it('counts an intended scale change as written, by direction', () => {
    const { intent: _, ...retained } = FULL;
    const events = { uid: 'u', recommendations: retained.recommendations, latest: retained.latest };
    expect(withIntent(FULL)).to.deep.equal({
      ...{ ...events, scaleDownEvents: retained.scaleDownEvents },
      scaleUpEvents: [...retained.scaleUpEvents, { change: 2, atMs: 5000 }],
    });
    expect(withIntent({ ...FULL, intent: { from: 6, to: 1, atMs: 5000 } })).to.deep.equal({
      ...{ ...events, scaleUpEvents: retained.scaleUpEvents },
      scaleDownEvents: [...retained.scaleDownEvents, { change: 5, atMs: 5000 }],
    });
    expect(withIntent(retained)).to.deep.equal(retained);
  });
});
