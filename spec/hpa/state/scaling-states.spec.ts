import { expect } from 'chai';
import type { ScalingState } from '#lib/hpa/decision/scaling-state.ts';
import { ScalingStates } from '#lib/hpa/state/scaling-states.ts';
import { NOW_MS } from '#spec/hpa/built-inputs.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const WEB = { namespace: 'shop', name: 'web', uid: 'u' };
const SECOND_MS = 1000;
const WINDOWS = {
  ...{ scaleUpWindowMs: 0, scaleDownWindowMs: 300_000 },
  ...{ eventsMs: 600_000 },
};
const DESIRED: ScalingState = {
  recommendations: [{ replicas: 9, atMs: NOW_MS - 30 * SECOND_MS }],
  scaleUpEvents: [{ change: 2, atMs: NOW_MS - 40 * SECOND_MS }],
  scaleDownEvents: [],
};

describe('ScalingStates', () => {
  let retained: Map<string, string>;

  beforeEach(() => {
    retained = new Map();
  });

  it('starts over for a recreated HPA, in this term and the next', async () => {
    const made = { ...WEB, uid: 'made again' };
    const nothing = { recommendations: [], scaleUpEvents: [], scaleDownEvents: [] };
    const states = await statesWithIntent();
    expect(await states.get(WEB, observed(3))).to.deep.equal(DESIRED);
    expect(await lead().get(made, observed(3))).to.deep.equal(nothing);
    expect(await states.get(made, observed(3))).to.deep.equal(nothing);
    expect((await lead().get(WEB, observed(3))).scaleUpEvents).to.deep.equal(DESIRED.scaleUpEvents);
  });

  it('removes persisted state of a deleted HPA, except in a dry run', async () => {
    const states = await statesWithIntent();
    await states.remove('shop', 'web', { isRetained: true });
    expect([...retained.keys()]).to.deep.equal(['shop/web']);
    expect((await states.get(WEB, observed(3))).scaleUpEvents).to.deep.equal(DESIRED.scaleUpEvents);
    await states.remove('shop', 'web', { isRetained: false });
    expect([...retained.keys()]).to.deep.equal([]);
    expect((await states.get(WEB, observed(3))).scaleUpEvents).to.deep.equal([]);
  });

  it('counts an intended scale change once if the scale has changed', async () => {
    const states = lead();
    await states.get(WEB, observed(3));
    const scaled = { ...DESIRED, scaleUpEvents: [...DESIRED.scaleUpEvents, { change: 6, atMs: NOW_MS }] };
    const intent = { from: 3, to: 9, atMs: NOW_MS };
    await states.persist(WEB, scaled, {
      currentReplicas: undefined,
      windows: WINDOWS,
      intent,
      nowMs: NOW_MS,
    });
    for (const [replicas, changes] of [
      [3, [2]],
      [9, [2, 6]],
      [5, [2, 6]], // changed by another client afterwards
      [undefined, [2, 6]],
    ] as const) {
      const { scaleUpEvents } = await lead().get(WEB, observed(replicas));
      expect(
        scaleUpEvents.map(({ change }) => change),
        `at ${replicas}`,
      ).to.deep.equal(changes);
    }
  });

  for (const [secondsLater, isRequested] of [
    [0, true],
    [299, true],
    [300, false],
  ] as const)
    it(`${isRequested ? 'depends' : 'does not depend'} on the current scale ${secondsLater} s after an intended change`, async () => {
      const states = lead();
      await states.get(WEB, observed(3));
      const intent = { from: 3, to: 9, atMs: NOW_MS };
      await states.persist(WEB, DESIRED, {
        currentReplicas: undefined,
        windows: WINDOWS,
        intent,
        nowMs: NOW_MS,
      });
      const laterMs = NOW_MS + secondsLater * SECOND_MS;
      expect(await lead().dependsOnScale(WEB, laterMs)).to.equal(isRequested);
      expect(await states.dependsOnScale(WEB, laterMs)).to.equal(false); // it has its own record
    });

  it('ignores times in the future, recorded by another process', async () => {
    await statesWithIntent();
    const { recommendations, scaleUpEvents } = await lead(NOW_MS - 3_600_000).get(
      WEB,
      observed(3, -3_600_000),
    );
    for (const { atMs } of [...recommendations, ...scaleUpEvents]) expect(atMs).to.equal(NOW_MS - 3_600_000);
  });

  const observed = (currentReplicas: number | undefined, laterMs = 0) => ({
    ...{ currentReplicas, decidedAtMs: NOW_MS - 15 * SECOND_MS + laterMs },
  });

  /** The persisted state of an HPA with nine desired replicas that has scaled by two. */
  async function statesWithIntent(): Promise<ScalingStates> {
    const states = lead();
    await states.get(WEB, observed(3));
    states.set(WEB, DESIRED);
    await states.persist(WEB, DESIRED, { currentReplicas: 3, windows: WINDOWS, nowMs: NOW_MS });
    return states;
  }

  /** Starts a term with the state that earlier terms persisted. */
  function lead(nowMs = NOW_MS): ScalingStates {
    return new ScalingStates({
      store: {
        get: async (namespace, name) => retained.get(`${namespace}/${name}`),
        async put(namespace, name, text) {
          if (text === undefined) retained.delete(`${namespace}/${name}`);
          else retained.set(`${namespace}/${name}`, text);
        },
        release: () => {},
      },
      clock: new ManualClock(nowMs),
      onUnread: () => {},
    });
  }
});
