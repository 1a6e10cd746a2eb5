import { expect } from 'chai';
import fc from 'fast-check';
import type { ReadingResponse } from '#lib/resource-metrics/sink/reading-response.ts';
import { cpuOver, nextHistory, type UsageHistory } from '#lib/resource-metrics/sink/usage-history.ts';
import { at, containerPoint, readingResponse } from '#spec/support/points.ts';

type Step = Parameters<typeof containerPoint>[0] & {
  readonly response?: Partial<ReadingResponse>;
  readonly sincePreviousScrapeMs?: number;
  readonly minWindowMs?: number;
};

/** Adds readings of responses at their timestamps, or with other times. */
function historyOf(...steps: Step[]): UsageHistory {
  let history: UsageHistory | undefined;
  for (const { response, sincePreviousScrapeMs = 60_000, minWindowMs = 10_000, ...changes } of steps) {
    const point = containerPoint(changes);
    const atMs = response?.receivedAtMs ?? point.takenAtMs - at(0);
    history = nextHistory(history, point, {
      response: readingResponse({ atMs, ...response }),
      sincePreviousScrapeMs,
      minWindowMs,
    });
  }
  if (!history) throw new Error('a history needs a reading');
  return history;
}

describe('nextHistory', () => {
  it('computes the usage between two readings', () => {
    const { usage } = historyOf(
      { takenAtMs: at(0), cpuCoreNanoseconds: 1e9 },
      { takenAtMs: at(60), cpuCoreNanoseconds: 4e9, memoryBytes: 777 },
    );
    expect(usage).to.deep.equal({
      name: 'app',
      timestampMs: at(60),
      windowMs: 60_000,
      cpuNanocores: 50_000_000,
      memoryBytes: 777,
    });
  });

  it('has extra resources as of the end of the window', () => {
    const { usage } = historyOf(
      { takenAtMs: at(0), extraBytes: { swap: 1 } },
      { takenAtMs: at(60), cpuCoreNanoseconds: 4e9, extraBytes: { swap: 2 } },
    );
    expect(usage?.extraBytes).to.deep.equal({ swap: 2 });
  });

  it('has no usage for an old container after one reading', () => {
    expect(historyOf({ startedAtMs: at(-3600) }).usage).to.equal(undefined);
  });

  describe('after one reading', () => {
    const bornAt = (seconds: number, sincePreviousScrapeMs = 60_000) =>
      historyOf({
        startedAtMs: at(seconds),
        cpuCoreNanoseconds: 2e9,
        sincePreviousScrapeMs,
      }).usage;

    it('averages since a start that is later than the previous scrape and at least 10 s ago', () => {
      expect(bornAt(-20)).to.deep.include({ cpuNanocores: 100_000_000, windowMs: 20_000 });
      expect(bornAt(-10)).to.deep.include({ windowMs: 10_000 });
      expect(bornAt(-60)).to.deep.include({ windowMs: 60_000 });
    });

    it('has no usage for a start less than 10 s ago or before the previous scrape', () => {
      expect(bornAt(-9)).to.equal(undefined);
      expect(bornAt(-61)).to.equal(undefined);
      expect(bornAt(-20, 15_000)).to.equal(undefined);
    });

    it('has no usage without a start time', () => {
      expect(historyOf({ startedAtMs: undefined }).usage).to.equal(undefined);
    });
  });

  it('returns the same object for a repeated sample', () => {
    const history = historyOf({ takenAtMs: at(0) }, { takenAtMs: at(60), cpuCoreNanoseconds: 2e9 });
    const again = nextHistory(
      history,
      containerPoint({ takenAtMs: at(60), cpuCoreNanoseconds: 2e9, memoryBytes: 5 }),
      { response: readingResponse({ atMs: 75_000 }), sincePreviousScrapeMs: 15_000, minWindowMs: 10_000 },
    );
    expect(again).to.equal(history);
  });

  it('has no usage after five minutes with the same sample', () => {
    const same = { takenAtMs: at(60), cpuCoreNanoseconds: 2e9 };
    const readAgain = (receivedAtMs: number) => ({ ...same, response: { receivedAtMs } });
    const steps = [{ takenAtMs: at(0) }, same, readAgain(359_999)];
    expect(historyOf(...steps).usage).not.to.equal(undefined);
    expect(historyOf(...steps, readAgain(360_000)).usage).to.equal(undefined);
  });

  describe('after a restart', () => {
    it('discards readings before a new start', () => {
      const { usage, readings } = historyOf(
        { takenAtMs: at(0), cpuCoreNanoseconds: 1e9 },
        { takenAtMs: at(60), cpuCoreNanoseconds: 9e9, startedAtMs: at(0) },
      );
      expect(readings).to.have.length(1);
      expect(usage).to.deep.include({ windowMs: 60_000, cpuNanocores: 150_000_000 });
    });

    it('discards readings if the counter decreased, regardless of the start time', () => {
      const { usage, readings } = historyOf(
        { takenAtMs: at(0), cpuCoreNanoseconds: 9e9 },
        { takenAtMs: at(60), cpuCoreNanoseconds: 1e9 },
      );
      expect(readings).to.have.length(1);
      expect(usage).to.equal(undefined);
    });

    it('discards readings if the counter decreased within a second', () => {
      const { readings } = historyOf(
        { takenAtMs: at(0), cpuCoreNanoseconds: 9e9 },
        { takenAtMs: at(0), cpuCoreNanoseconds: 1e3, response: { receivedAtMs: 400 } },
      );
      expect(readings.map(({ cpuCoreNanoseconds }) => cpuCoreNanoseconds)).to.deep.equal([1e3]);
    });
  });

  it('treats start times that differ by up to a second as the same', () => {
    const startedAgain = (flapsByMs: number) =>
      historyOf(
        { takenAtMs: at(0), startedAtMs: at(0) - 3 },
        { takenAtMs: at(60), startedAtMs: at(0) - 3 + flapsByMs, cpuCoreNanoseconds: 2e9 },
      ).readings.length;
    expect([3, 1000, 1001].map(startedAgain)).to.deep.equal([2, 2, 1]);
  });

  it('ignores a start time after the reading, due to a clock set back', () => {
    for (const startSeconds of [3000, 30]) {
      const { usage } = historyOf(
        { takenAtMs: at(0), startedAtMs: at(startSeconds) },
        { takenAtMs: at(60), startedAtMs: at(startSeconds), cpuCoreNanoseconds: 7e9 },
      );
      expect(usage).to.deep.include({ windowMs: 60_000, cpuNanocores: 100_000_000 });
    }
  });

  it('ignores a new start time after its own reading', () => {
    for (const startSeconds of [61, 3000]) {
      const { readings } = historyOf(
        { takenAtMs: at(0), startedAtMs: at(-3600) },
        { takenAtMs: at(60), startedAtMs: at(startSeconds), cpuCoreNanoseconds: 7e9 },
      );
      expect(readings).to.have.length(2);
    }
  });

  describe("when the kubelet's clock is stepped", () => {
    const stepped = (seconds: number) =>
      historyOf(
        { takenAtMs: at(0), response: { consistentSamples: 0 } },
        {
          takenAtMs: at(60 + seconds),
          cpuCoreNanoseconds: 2e9,
          response: { receivedAtMs: 60_000, consistentSamples: 0 },
        },
      );

    it('discards readings before a step back', () => {
      expect(stepped(-61).readings).to.have.length(1);
      expect(stepped(-61).usage).to.equal(undefined);
    });

    it('discards readings before a small step back', () => {
      for (const seconds of [-1, -5, -17]) {
        const { readings, usage } = historyOf(
          { takenAtMs: at(0) },
          { takenAtMs: at(seconds), cpuCoreNanoseconds: 2e9, response: { receivedAtMs: 12_000 } },
        );
        expect(readings.map(({ takenAtMs }) => takenAtMs)).to.deep.equal([at(seconds)]);
        expect(usage).to.equal(undefined);
      }
    });

    it('discards readings before a step forward', () => {
      expect(stepped(3600).usage).to.equal(undefined);
    });

    it('does not treat an old container that seems to have just started as new', () => {
      const { readings, usage } = historyOf(
        { takenAtMs: at(0), startedAtMs: at(-3600) },
        {
          takenAtMs: at(-3580),
          startedAtMs: at(-3600),
          cpuCoreNanoseconds: 2e12,
          response: { receivedAtMs: 60_000 },
        },
      );
      expect(readings).to.have.length(1);
      expect(usage).to.equal(undefined);
    });

    it('accepts samples of different age', () => {
      expect(stepped(-20).usage?.windowMs).to.equal(40_000);
      expect(stepped(20).usage?.windowMs).to.equal(80_000);
    });

    it('accepts slow responses', () => {
      const slow = (takenAtSeconds: number) =>
        historyOf(
          { takenAtMs: at(0), response: { requestedAtMs: 0, receivedAtMs: 50_000 } },
          {
            takenAtMs: at(takenAtSeconds),
            cpuCoreNanoseconds: 2e9,
            response: { requestedAtMs: 60_000, receivedAtMs: 110_000 },
          },
        ).readings;
      expect(slow(15)).to.have.length(2);
      expect(slow(110)).to.have.length(2);
      expect(slow(110 + 31)).to.have.length(1);
    });
  });

  it('compares with the last reading that is at least 10 s older, whatever the precision of timestamps', () => {
    const windowOf = (seconds: number[], stampResolution: 'second' | 'millisecond') =>
      historyOf(...seconds.map((each) => ({ takenAtMs: at(each), response: { stampResolution } }))).usage
        ?.windowMs;
    for (const resolution of ['second', 'millisecond'] as const) {
      expect(windowOf([0, 15, 30, 45, 60], resolution)).to.equal(15_000);
      expect(windowOf([0, 12, 27], resolution)).to.equal(15_000);
      expect(windowOf([0, 15, 20], resolution)).to.equal(20_000);
      expect(windowOf([0, 10], resolution)).to.equal(10_000);
      expect(windowOf([0, 9], resolution)).to.equal(undefined);
      expect(windowOf([0], resolution)).to.equal(undefined);
    }
  });

  it('accepts a reading that is up to half a second less than 10 s older, since cycles may start late', () => {
    const windowAfter = (seconds: number) => {
      const response = { stampResolution: 'millisecond' } as const;
      return historyOf({ response }, { takenAtMs: at(seconds), response }).usage?.windowMs;
    };
    expect(windowAfter(9.5)).to.equal(9500);
    expect(windowAfter(9.499)).to.equal(undefined);
  });

  it('compares readings of a shorter minimum window', () => {
    const windowOf = (...seconds: number[]) => {
      const steps = seconds.map((each) => ({
        takenAtMs: at(each),
        response: { stampResolution: 'millisecond' } as const,
        minWindowMs: 5000,
      }));
      return historyOf(...steps).usage?.windowMs;
    };
    expect(windowOf(0, 5, 10)).to.equal(5000);
    expect(windowOf(0, 4.5)).to.equal(4500);
    expect(windowOf(0, 4.499)).to.equal(undefined);
  });

  it('compares with the reading of the previous cycle at a resolution of 10 s, in whole seconds', () => {
    // Requests at 0.99 and 11.0 s: timestamps 11 s apart; then at 20.99 s: 9 s apart.
    const requests = [990, 11_000, 20_990].map((receivedAtMs) => ({
      takenAtMs: at(Math.floor(receivedAtMs / 1000)),
      response: { receivedAtMs, respondedAtMs: receivedAtMs, requestedAtMs: receivedAtMs },
    }));
    expect(historyOf(...requests.slice(0, 2)).usage?.windowMs).to.equal(10_010);
    expect(historyOf(...requests).usage?.windowMs).to.equal(9990);
  });

  it('retains two readings, the newest and the one that it is compared with', () => {
    const steps = Array.from({ length: 100 }, (_, index) => ({
      takenAtMs: at(index * 15),
      cpuCoreNanoseconds: 1e9 + index,
    }));
    const { readings } = historyOf(...steps);
    expect(readings.map(({ takenAtMs }) => takenAtMs)).to.deep.equal([at(98 * 15), at(99 * 15)]);
  });

  it('retains at most four readings, and still computes usage', () => {
    for (const stepMs of [1, 1000]) {
      const steps = Array.from({ length: 2001 }, (_, index) => ({
        takenAtMs: at(0) + index * stepMs,
        cpuCoreNanoseconds: 1e9 + index * stepMs * 1e6,
        response: { receivedAtMs: index * Math.max(stepMs, 15) },
      }));
      const { readings, usage } = historyOf(...steps);
      expect(readings, `every ${stepMs} ms`).to.have.length.at.most(4);
      expect(readings.at(-1)?.takenAtMs).to.equal(at(0) + 2000 * stepMs);
      if (stepMs === 1000) expect(usage).to.deep.include({ cpuNanocores: 1e9 });
      if (stepMs === 1000) expect(usage?.windowMs).to.be.within(10_000, 20_000);
    }
  });

  it('never computes a negative usage or a window shorter than 9.5 s', () => {
    const step = fc.record({
      afterSeconds: fc.integer({ min: -100, max: 100 }),
      receivedAfterMs: fc.integer({ min: 0, max: 100_000 }),
      cpuCoreNanoseconds: fc.integer({ min: 1, max: 1e12 }),
      startedAtMs: fc.option(fc.integer({ min: -1000, max: 1000 }).map(at), { nil: undefined }),
    });
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1 }),
        fc.constantFrom('second', 'millisecond'),
        (steps, resolution) => {
          let history: UsageHistory | undefined;
          let takenAtMs = at(0);
          let receivedAtMs = 0;
          for (const { afterSeconds, receivedAfterMs, ...changes } of steps) {
            takenAtMs += afterSeconds * 1000;
            receivedAtMs += receivedAfterMs;
            const response = readingResponse({
              requestedAtMs: receivedAtMs - receivedAfterMs / 2,
              respondedAtMs: receivedAtMs,
              receivedAtMs,
              stampResolution: resolution,
            });
            const context = { response, sincePreviousScrapeMs: receivedAfterMs, minWindowMs: 10_000 };
            history = nextHistory(history, containerPoint({ takenAtMs, ...changes }), context);
            if (history.usage) {
              expect(history.usage.cpuNanocores).to.be.at.least(0);
              expect(history.usage.windowMs).to.be.at.least(9500);
              expect(history.usage.timestampMs).to.equal(takenAtMs);
            }
          }
        },
      ),
    );
  });
});

describe('cpuOver', () => {
  it('divides the counter difference by the time, and rounds down', () => {
    expect(cpuOver(2_776_643_596 - 1_548_975_014, 20_000)).to.equal(61_383_429);
  });

  it('returns undefined if the counter decreased', () => {
    expect(cpuOver(-1, 10_000)).to.equal(undefined);
  });

  it('returns zero for an idle container', () => {
    expect(cpuOver(0, 20_000)).to.equal(0);
  });

  it('is exact to a microcore after three years on a busy 64-core node', () => {
    const coreNanoseconds = fc.bigInt(0n, 64n * 3n * 365n * 86_400n * 1_000_000_000n);
    const rate = fc.bigInt(0n, 64_000_000_000n);
    fc.assert(
      fc.property(coreNanoseconds, rate, fc.integer({ min: 10, max: 300 }), (before, nanocores, seconds) => {
        const after = before + nanocores * BigInt(seconds);
        const measured = cpuOver(Number(after) - Number(before), seconds * 1000);
        expect(Math.abs((measured ?? Number.NaN) - Number(nanocores))).to.be.below(1000);
      }),
    );
  });
});
