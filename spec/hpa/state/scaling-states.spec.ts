import { expect } from 'chai';
import type { HpaMemory } from '#lib/hpa/decision/scaling-state.ts';
import { HpaMemories } from '#lib/hpa/state/scaling-states.ts';
import { NOW_MS } from '#spec/hpa/built-world.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const WEB = { namespace: 'shop', name: 'web', uid: 'u' };
const SECOND_MS = 1000;
const WINDOWS = {
  ...{ scaleUpWindowMs: 0, scaleDownWindowMs: 300_000 },
  ...{ scaleUpPeriodMs: 600_000, scaleDownPeriodMs: 600_000 },
};
const WANTED: HpaMemory = {
  recommendations: [{ replicas: 9, atMs: NOW_MS - 30 * SECOND_MS }],
  scaleUpEvents: [{ change: 2, atMs: NOW_MS - 40 * SECOND_MS }],
  scaleDownEvents: [],
};

describe('HpaMemories', () => {
  let kept: Map<string, string>;

  beforeEach(() => {
    kept = new Map();
  });

  it('remembers nothing of another HPA that had the name, in this term and after it', async () => {
    const made = { ...WEB, uid: 'made again' };
    const nothing = { recommendations: [], scaleUpEvents: [], scaleDownEvents: [] };
    const memories = await ofOneThatWanted();
    expect(await memories.of(WEB, seen(3))).to.deep.equal(WANTED);
    expect(await lead().of(made, seen(3))).to.deep.equal(nothing);
    expect(await memories.of(made, seen(3))).to.deep.equal(nothing);
    expect((await lead().of(WEB, seen(3))).scaleUpEvents).to.deep.equal(WANTED.scaleUpEvents);
  });

  it('forgets what was kept of an HPA that is gone, and in a dry run leaves it to whose it is', async () => {
    const memories = await ofOneThatWanted();
    await memories.forget('shop', 'web', { isKept: true });
    expect([...kept.keys()]).to.deep.equal(['shop/web']);
    expect((await memories.of(WEB, seen(3))).scaleUpEvents).to.deep.equal(WANTED.scaleUpEvents);
    await memories.forget('shop', 'web', { isKept: false });
    expect([...kept.keys()]).to.deep.equal([]);
    expect((await memories.of(WEB, seen(3))).scaleUpEvents).to.deep.equal([]);
  });

  it('counts a scaling that was about to be written where the scale is another now, once', async () => {
    const memories = lead();
    await memories.of(WEB, seen(3));
    const scaled = { ...WANTED, scaleUpEvents: [...WANTED.scaleUpEvents, { change: 6, atMs: NOW_MS }] };
    const intent = { from: 3, to: 9, atMs: NOW_MS };
    await memories.keep(WEB, scaled, { currentReplicas: undefined, windows: WINDOWS, intent, nowMs: NOW_MS });
    for (const [replicas, changes] of [
      [3, [2]],
      [9, [2, 6]],
      [5, [2, 6]], // somebody has changed it after that
      [undefined, [2, 6]],
    ] as const) {
      const { scaleUpEvents } = await lead().of(WEB, seen(replicas));
      expect(
        scaleUpEvents.map(({ change }) => change),
        `at ${replicas}`,
      ).to.deep.equal(changes);
    }
  });

  for (const [secondsLater, isAsked] of [
    [0, true],
    [299, true],
    [300, false],
  ] as const)
    it(`${isAsked ? 'depends' : 'does not depend'} on the scale of right now ${secondsLater} s after one was about to be written`, async () => {
      const memories = lead();
      await memories.of(WEB, seen(3));
      const intent = { from: 3, to: 9, atMs: NOW_MS };
      await memories.keep(WEB, WANTED, {
        currentReplicas: undefined,
        windows: WINDOWS,
        intent,
        nowMs: NOW_MS,
      });
      const laterMs = NOW_MS + secondsLater * SECOND_MS;
      expect(await lead().dependsOnScale(WEB, laterMs)).to.equal(isAsked);
      expect(await memories.dependsOnScale(WEB, laterMs)).to.equal(false); // it knows what it has done
    });

  it('lets nothing count from a future that the clock of another process told', async () => {
    await ofOneThatWanted();
    const { recommendations, scaleUpEvents } = await lead(NOW_MS - 3_600_000).of(WEB, seen(3, -3_600_000));
    for (const { atMs } of [...recommendations, ...scaleUpEvents]) expect(atMs).to.equal(NOW_MS - 3_600_000);
  });

  const seen = (currentReplicas: number | undefined, laterMs = 0) => ({
    ...{ currentReplicas, decidedAtMs: NOW_MS - 15 * SECOND_MS + laterMs },
  });

  /** One that has wanted nine replicas, and has scaled by two, which is kept. */
  async function ofOneThatWanted(): Promise<HpaMemories> {
    const memories = lead();
    await memories.of(WEB, seen(3));
    memories.set(WEB, WANTED);
    await memories.keep(WEB, WANTED, { currentReplicas: 3, windows: WINDOWS, nowMs: NOW_MS });
    return memories;
  }

  /** As each term does, beside what the terms before have kept. */
  function lead(nowMs = NOW_MS): HpaMemories {
    return new HpaMemories({
      store: {
        get: async (namespace, name) => kept.get(`${namespace}/${name}`),
        async put(namespace, name, text) {
          if (text === undefined) kept.delete(`${namespace}/${name}`);
          else kept.set(`${namespace}/${name}`, text);
        },
        letGo: () => {},
      },
      clock: new ManualClock(nowMs),
      onUnread: () => {},
    });
  }
});
