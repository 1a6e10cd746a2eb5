import { expect } from 'chai';
import fc from 'fast-check';
import { type CounterReading, intervalBetween } from '#lib/resource-metrics/sink/sample-interval.ts';
import { at, readingResponse } from '#spec/support/points.ts';

/** One response by the local clock, and a sample in it. */
interface Scrape {
  readonly requestedAtMs: number;
  readonly responseMs: number;
  readonly takenAtMs: number;
  readonly coreNanoseconds?: number;
}

/** What a kubelet reports whose clock is ahead by a lead. */
function reading(
  { requestedAtMs, responseMs, takenAtMs, coreNanoseconds = 0 }: Scrape,
  { leadMs = 0, stampMs = 1000 } = {},
): CounterReading {
  const respondedAtMs = requestedAtMs + responseMs;
  return {
    takenAtMs: Math.floor((at(0) + takenAtMs + leadMs) / stampMs) * stampMs,
    cpuCoreNanoseconds: coreNanoseconds,
    response: readingResponse({
      requestedAtMs,
      respondedAtMs,
      receivedAtMs: respondedAtMs + 5000, // a long body says nothing about the samples
      stampResolution: stampMs === 1 ? 'millisecond' : 'second',
    }),
  };
}

const inCache = ({ response, ...others }: CounterReading): CounterReading => ({
  ...others,
  response: { ...response, consistentSamples: 0, minLeadMs: 1, maxLeadMs: 0 },
});

const clockLead = fc.integer({ min: -86_400_000, max: 86_400_000 });
const fraction = fc.double({ min: 0, max: 1, noNaN: true });

describe('intervalBetween', () => {
  describe('for samples that are taken when they are requested', () => {
    const onDemand = (longestMs: number) => {
      const response = fc.record({ responseMs: fc.integer({ min: 0, max: longestMs }), share: fraction });
      return fc
        .record({
          leadMs: clockLead,
          startMs: fc.integer({ min: 0, max: 999 }),
          apartMs: fc.integer({ min: 10_000, max: 60_000 }),
          first: response,
          second: response,
        })
        .map(({ leadMs, startMs, apartMs, first, second }) => {
          const scrape = (requestedAtMs: number, { responseMs, share }: typeof first) => ({
            requestedAtMs,
            responseMs,
            takenAtMs: requestedAtMs + share * responseMs,
          });
          const [one, other] = [scrape(startMs, first), scrape(startMs + apartMs, second)];
          return {
            earlier: reading(one, { leadMs }),
            later: reading(other, { leadMs }),
            trueMs: other.takenAtMs - one.takenAtMs,
            responsesMs: first.responseMs + second.responseMs,
          };
        });
    };

    it('is off by half the sum of the response times at most', () => {
      fc.assert(
        fc.property(onDemand(500), ({ earlier, later, trueMs, responsesMs }) => {
          const errorMs = Math.abs(intervalBetween(earlier, later, { nanocores: undefined }) - trueMs);
          expect(errorMs).to.be.at.most(responsesMs / 2 + 1);
        }),
        { numRuns: 2000 },
      );
    });

    it('is off by less than timestamps may be, however slow the responses are', () => {
      fc.assert(
        fc.property(onDemand(54_000), ({ earlier, later, trueMs }) => {
          expect(Math.abs(intervalBetween(earlier, later, { nanocores: undefined }) - trueMs)).to.be.at.most(
            1001,
          );
        }),
        { numRuns: 2000 },
      );
    });

    it('is the difference of timestamps if the two responses took more than a second', () => {
      const first = reading({ requestedAtMs: 900, responseMs: 500, takenAtMs: 900 });
      const second = (responseMs: number) =>
        reading({ requestedAtMs: 15_800, responseMs, takenAtMs: 15_800 });
      expect(intervalBetween(first, second(500), { nanocores: undefined })).to.equal(14_900);
      expect(intervalBetween(first, second(501), { nanocores: undefined })).to.equal(15_000);
    });

    it('does not depend on the rate of the kubelet, which covers another time', () => {
      fc.assert(
        fc.property(onDemand(3000), fc.integer({ min: 1, max: 1e12 }), ({ earlier, later }, nanocores) => {
          const used = { ...later, cpuCoreNanoseconds: 1e9 };
          expect(intervalBetween(earlier, used, { nanocores })).to.equal(
            intervalBetween(earlier, later, { nanocores: undefined }),
          );
        }),
      );
    });

    it('is between the bounds of requests and timestamps if clocks drift', () => {
      const first = reading({ requestedAtMs: 0, responseMs: 0, takenAtMs: 0 });
      const drifted = reading({ requestedAtMs: 15_000, responseMs: 0, takenAtMs: 15_000 }, { leadMs: -8 });
      expect(drifted.takenAtMs - first.takenAtMs).to.equal(14_000);
      expect(intervalBetween(first, drifted, { nanocores: undefined })).to.equal(15_000);
    });
  });

  describe('for samples of a cache', () => {
    /** Two samples, found by requests whenever they happen. */
    const cached = fc
      .record({
        leadMs: clockLead,
        startMs: fc.integer({ min: 0, max: 999 }),
        trueMs: fc.integer({ min: 10_000, max: 60_000 }),
        agesMs: fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 20_000 })),
        usedBefore: fc.integer({ min: 0, max: 1e15 }),
        usedCoreNanoseconds: fc.integer({ min: 1e6, max: 1e12 }),
        rateError: fc.double({ min: 0.5, max: 2, noNaN: true }),
      })
      .map(({ leadMs, startMs, trueMs, agesMs, usedBefore, usedCoreNanoseconds, rateError }) => {
        const found = (takenAtMs: number, ageMs: number, coreNanoseconds: number) =>
          inCache(
            reading(
              { requestedAtMs: takenAtMs + ageMs, responseMs: 5, takenAtMs, coreNanoseconds },
              { leadMs },
            ),
          );
        const earlier = found(startMs, agesMs[0], usedBefore);
        const later = found(startMs + trueMs, agesMs[1], usedBefore + usedCoreNanoseconds);
        const trueRate = usedCoreNanoseconds / (trueMs / 1000);
        return { earlier, later, trueMs, trueRate, rateError };
      });

    it('is exact to the millisecond by the rate over one sampling interval', () => {
      fc.assert(
        fc.property(cached, ({ earlier, later, trueMs, trueRate }) => {
          fc.pre(trueMs < 18_000);
          expect(intervalBetween(earlier, later, { nanocores: trueRate })).to.be.closeTo(trueMs, 1);
        }),
        { numRuns: 2000 },
      );
    });

    it('is off by less than a second without a rate', () => {
      fc.assert(
        fc.property(cached, ({ earlier, later, trueMs }) => {
          const intervalMs = intervalBetween(earlier, later, { nanocores: undefined });
          expect(intervalMs).to.equal(later.takenAtMs - earlier.takenAtMs);
          expect(Math.abs(intervalMs - trueMs)).to.be.below(1000);
        }),
      );
    });

    it('is within a second of the timestamps, whatever the rate', () => {
      fc.assert(
        fc.property(cached, ({ earlier, later, trueRate, rateError }) => {
          const intervalMs = intervalBetween(earlier, later, { nanocores: trueRate * rateError });
          expect(Math.abs(intervalMs - (later.takenAtMs - earlier.takenAtMs))).to.be.at.most(1000);
        }),
        { numRuns: 2000 },
      );
    });

    it('does not use a rate when two sampling intervals fit', () => {
      const found = (takenAtMs: number, coreNanoseconds = 0) =>
        inCache(reading({ requestedAtMs: takenAtMs + 5000, responseMs: 5, takenAtMs, coreNanoseconds }));
      for (const [seconds, byRate] of [
        [18, 18_500],
        [19, 19_500],
        [20, 20_000],
      ] as const) {
        const later = found(seconds * 1000, seconds * 1e9 + 0.5e9);
        expect(intervalBetween(found(0), later, { nanocores: 1e9 })).to.equal(byRate);
      }
    });

    it('is not that of requests for a counter that is never read on demand', () => {
      const first = reading({ requestedAtMs: 900, responseMs: 5, takenAtMs: 900 });
      const second = reading({
        requestedAtMs: 15_800,
        responseMs: 5,
        takenAtMs: 15_800,
        coreNanoseconds: 15.2e9,
      });
      expect(intervalBetween(first, second, { nanocores: undefined, isCached: true })).to.equal(15_000);
      expect(intervalBetween(first, second, { nanocores: 1e9, isCached: true })).to.equal(15_200);
      expect(intervalBetween(first, second, { nanocores: 1e9 })).to.equal(14_900);
    });

    it('does not use a rate unless a response shows a cache', () => {
      const unproven = (takenAtMs: number, coreNanoseconds = 0) => {
        const one = reading({ requestedAtMs: takenAtMs, responseMs: 5, takenAtMs, coreNanoseconds });
        return { ...one, response: { ...one.response, consistentSamples: 5 } };
      };
      const later = unproven(15_000, 15.5e9);
      expect(intervalBetween(unproven(0), later, { nanocores: 1e9 })).to.equal(15_000);
      expect(intervalBetween(inCache(unproven(0)), later, { nanocores: 1e9 })).to.equal(15_500);
      expect(intervalBetween(unproven(0), inCache(later), { nanocores: 1e9 })).to.equal(15_500);
    });
  });

  it('is the difference of timestamps in milliseconds', () => {
    fc.assert(
      fc.property(
        clockLead,
        fc.integer({ min: 10_000, max: 60_000 }),
        fc.integer({ min: 0, max: 3000 }),
        (leadMs, apartMs, ageMs) => {
          const fine = { leadMs, stampMs: 1 };
          const first = reading({ requestedAtMs: 3000, responseMs: 5, takenAtMs: 3000 - ageMs }, fine);
          const second = reading({ requestedAtMs: 9000, responseMs: 5, takenAtMs: 3000 + apartMs }, fine);
          expect(intervalBetween(first, second, { nanocores: 1 })).to.equal(apartMs + ageMs);
        },
      ),
    );
  });

  it('is bounded by the coarser timestamp after a change of endpoint', () => {
    const coarse = inCache(reading({ requestedAtMs: 900, responseMs: 5, takenAtMs: 900 }));
    const fine = inCache(
      reading({ requestedAtMs: 15_900, responseMs: 5, takenAtMs: 15_900 }, { stampMs: 1 }),
    );
    expect(fine.takenAtMs - coarse.takenAtMs).to.equal(15_900);
    expect(intervalBetween(coarse, fine, { nanocores: undefined })).to.equal(15_401); // between 14,900 and 15,901
  });
});
