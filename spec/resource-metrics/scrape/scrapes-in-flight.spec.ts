import { expect } from 'chai';
import { type ScrapeBounds, ScrapesInFlight } from '#lib/resource-metrics/scrape/scrapes-in-flight.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

/** One scrape of node a that ends on demand, or when its signal aborts. */
function setup() {
  const clock = new ManualClock();
  const stop = new AbortController();
  const cycle = new AbortController();
  const scrapes = new ScrapesInFlight({ clock, stopped: stop.signal });
  const { promise, resolve: end } = Promise.withResolvers<void>();
  let bounds: ScrapeBounds | undefined;
  const scrape = async (given: ScrapeBounds) => {
    bounds = given;
    given.signal.addEventListener('abort', () => end());
    await promise;
  };
  const ran = scrapes.run('a', cycle.signal, scrape);
  if (!bounds) throw new Error('it has not begun');
  const endCycle = () => cycle.abort(new Error('the cycle is over'));
  return { bounds, clock, end, endCycle, ran, scrapes, stop };
}

describe('ScrapesInFlight', () => {
  for (const waitedMs of [undefined, 0, 99]) {
    it(`ends a scrape that waited for ${waitedMs} ms with its cycle`, async () => {
      const { bounds, clock, endCycle, ran, scrapes } = setup();
      if (waitedMs !== undefined) {
        using _paused = bounds.pause();
        await clock.advance(waitedMs);
      }
      endCycle();
      await ran;
      expect(bounds.signal.reason).to.have.property('message', 'the cycle is over');
      expect(scrapes.skip('a')).to.equal(undefined);
      expect(clock.sleeperCount).to.equal(0);
    });
  }

  it('continues a scrape that waits, and counts the cycles that skip its node', async () => {
    const { bounds, clock, end, endCycle, ran, scrapes } = setup();
    bounds.pause();
    endCycle();
    await ran;
    await clock.advance(60_000);
    expect(bounds.signal.aborted).to.equal(false);
    expect(scrapes.skip('a')).to.include({ isWaiting: true, skippedCycles: 1 });
    const inFlight = scrapes.skip('a');
    expect(inFlight).to.include({ skippedCycles: 2 });
    end();
    await inFlight?.ended;
    expect(scrapes.skip('a')).to.equal(undefined);
  });

  for (const [when, waitMs, cycleMs] of [
    ['had waited before', [1_000, 8_000], 15_000],
    ['still waits when it is over', [1_000, 20_000], 15_000],
  ] as const) {
    it(`extends a scrape by the time that it waited, if it ${when}`, async () => {
      const { bounds, clock, endCycle, ran } = setup();
      await clock.advance(waitMs[0]);
      const paused = bounds.pause();
      await clock.advance(Math.min(waitMs[1], cycleMs) - waitMs[0]);
      if (waitMs[1] < cycleMs) paused[Symbol.dispose]();
      await clock.advance(cycleMs - Math.min(waitMs[1], cycleMs));
      endCycle();
      await ran;
      if (waitMs[1] > cycleMs) {
        await clock.advance(waitMs[1] - cycleMs);
        paused[Symbol.dispose]();
      }
      const leftMs = cycleMs + (waitMs[1] - waitMs[0]) - clock.monotonicMs();
      await clock.advance(leftMs - 1);
      expect(bounds.signal.aborted).to.equal(false);
      await clock.advance(1);
      expect(bounds.signal.reason).to.have.property('message', 'the cycle is over');
      expect(clock.sleeperCount).to.equal(0);
    });
  }

  it('extends a scrape that waited for 100 ms by as much', async () => {
    const { bounds, clock, endCycle, ran } = setup();
    const paused = bounds.pause();
    await clock.advance(100);
    paused[Symbol.dispose]();
    endCycle();
    await ran;
    await clock.advance(99);
    expect(bounds.signal.aborted).to.equal(false);
    await clock.advance(1);
    expect(bounds.signal.aborted).to.equal(true);
  });

  it('leaves no timer of a scrape that ends before its extension', async () => {
    const { bounds, clock, end, endCycle, ran, scrapes, stop } = setup();
    const paused = bounds.pause();
    await clock.advance(5_000);
    endCycle();
    await ran;
    paused[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(1);
    const inFlight = scrapes.skip('a');
    end();
    await inFlight?.ended;
    expect(clock.sleeperCount).to.equal(0);
    bounds.pause()[Symbol.dispose](); // too late to restart it
    expect(clock.sleeperCount).to.equal(0);
    stop.abort(new Error('shutting down'));
    expect(bounds.signal.aborted).to.equal(false);
  });

  it('ends all scrapes when stopped, in their cycle or beyond', async () => {
    for (const isBehind of [true, false]) {
      const { bounds, endCycle, ran, scrapes, stop } = setup();
      bounds.pause();
      if (isBehind) endCycle();
      stop.abort(new Error('shutting down'));
      await ran;
      await scrapes.skip('a')?.ended;
      expect(bounds.signal.reason).to.have.property('message', 'shutting down');
    }
  });
});
