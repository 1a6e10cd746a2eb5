import { expect } from 'chai';
import { type ScrapeBounds, ScrapesUnderWay } from '#lib/resource-metrics/scrape/scrapes-under-way.ts';

/** One scrape of node a that ends when told to, or when its signal aborts. */
function setup() {
  const stop = new AbortController();
  const cycle = new AbortController();
  const scrapes = new ScrapesUnderWay(stop.signal);
  const { promise, resolve: end } = Promise.withResolvers<void>();
  let bounds: ScrapeBounds | undefined;
  const scrape = async (given: ScrapeBounds) => {
    bounds = given;
    given.signal.addEventListener('abort', () => end());
    await promise;
  };
  const ran = scrapes.run('a', cycle.signal, scrape);
  if (!bounds) throw new Error('it has not begun');
  return { bounds, cycle, end, ran, scrapes, stop };
}

describe('ScrapesUnderWay', () => {
  it('ends a scrape with its cycle, and with its reason', async () => {
    const { bounds, cycle, ran, scrapes } = setup();
    cycle.abort(new Error('the cycle is over'));
    await ran;
    expect(bounds.signal.reason).to.have.property('message', 'the cycle is over');
    expect(scrapes.passOver('a')).to.equal(undefined);
  });

  it('lets a scrape go on that waits for us or has waited, and counts the cycles that pass its node over', async () => {
    for (const isWaiting of [true, false]) {
      const { bounds, cycle, end, ran, scrapes } = setup();
      const paused = bounds.pause();
      if (!isWaiting) paused[Symbol.dispose]();
      cycle.abort(new Error('the cycle is over'));
      await ran;
      expect(bounds.signal.aborted).to.equal(false);
      expect(scrapes.passOver('a')).to.include({ isWaiting, passes: 1 });
      const underWay = scrapes.passOver('a');
      expect(underWay).to.include({ passes: 2 });
      end();
      await underWay?.ended;
      expect(scrapes.passOver('a')).to.equal(undefined);
    }
  });

  it('ends every scrape when all is to end, in its cycle or behind it', async () => {
    for (const isBehind of [true, false]) {
      const { bounds, cycle, ran, scrapes, stop } = setup();
      bounds.pause();
      if (isBehind) cycle.abort(new Error('the cycle is over'));
      stop.abort(new Error('shutting down'));
      await ran;
      await scrapes.passOver('a')?.ended;
      expect(bounds.signal.reason).to.have.property('message', 'shutting down');
    }
  });
});
