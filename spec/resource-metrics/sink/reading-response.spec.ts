import { expect } from 'chai';
import fc from 'fast-check';
import {
  describeResponse,
  isReadOnDemand,
  type ReadingResponse,
  showsCache,
} from '#lib/resource-metrics/sink/reading-response.ts';
import { seededFraction } from '#simulator/random.ts';
import { at, containerPoint, metricsBatch, nodePoint, podPoints } from '#spec/support/points.ts';

const CYCLE_MS = 15_000;

/** A response of a kubelet whose clock is ahead by a lead. */
function responseAt(
  requestedAtMs: number,
  samples: {
    readonly leadMs?: number;
    readonly responseMs?: number;
    /** When containers were sampled, by the local clock. */
    readonly takenAtMs: readonly number[];
    readonly nodeTakenAtMs?: number;
  },
) {
  const { leadMs = 0, responseMs = 20, takenAtMs, nodeTakenAtMs } = samples;
  const stamp = (ms: number) => Math.floor((at(0) + ms + leadMs) / 1000) * 1000;
  return metricsBatch({
    requestedAtMs,
    respondedAtMs: requestedAtMs + responseMs,
    receivedAtMs: requestedAtMs + responseMs,
    node: nodeTakenAtMs === undefined ? undefined : nodePoint({ takenAtMs: stamp(nodeTakenAtMs) }),
    pods: [podPoints({ containers: takenAtMs.map((ms) => containerPoint({ takenAtMs: stamp(ms) })) })],
  });
}

function describeAll(batches: readonly ReturnType<typeof responseAt>[]): readonly ReadingResponse[] {
  const described: ReadingResponse[] = [];
  for (const batch of batches) described.push(describeResponse(described.at(-1), batch));
  return described;
}

const fraction = fc.double({ min: 0, max: 1, noNaN: true });

describe('describeResponse', () => {
  it('finds each pair of responses on demand after six samples, of any clock that drifts by up to 500 ppm', () => {
    const response = fc.record({
      waitMs: fc.integer({ min: 5000, max: 60_000 }),
      responseMs: fc.integer({ min: 0, max: 5000 }),
      shares: fc.array(fraction, { minLength: 1, maxLength: 4 }),
      nodeAgeMs: fc.integer({ min: 0, max: 10_000 }),
      drift: fc.double({ min: -500e-6, max: 500e-6, noNaN: true }),
    });
    const responses = fc.array(response, { minLength: 2, maxLength: 30 });
    const lead = fc.integer({ min: -86_400_000, max: 86_400_000 });
    fc.assert(
      fc.property(lead, responses, (firstLeadMs, all) => {
        let [nowMs, leadMs, samples] = [0, firstLeadMs, 0];
        const described = describeAll(
          all.map(({ waitMs, responseMs, shares, nodeAgeMs, drift }) => {
            nowMs += waitMs;
            leadMs += waitMs * drift;
            const takenAtMs = shares.map((share) => nowMs + share * responseMs);
            return responseAt(nowMs, { leadMs, responseMs, takenAtMs, nodeTakenAtMs: nowMs - nodeAgeMs });
          }),
        );
        described.forEach((later, index) => {
          const { responseMs = 0, shares = [] } = all[index] ?? {};
          if (responseMs <= 1000) samples += shares.length;
          expect(later.consistentSamples).to.equal(samples);
          expect(showsCache(later)).to.equal(false);
          const earlier = described[index - 1];
          if (earlier) expect(isReadOnDemand(earlier, later)).to.equal(samples >= 6);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('finds a pair of responses of a cache on demand less than once in a thousand', () => {
    let [pairs, mistaken, shown] = [0, 0, 0];
    for (let kubelet = 0; kubelet < 400; kubelet++) {
      const containers = 1 + (kubelet % 4);
      const ageMs = (cycle: number, container: number) =>
        20_000 * seededFraction(1, kubelet, cycle, container);
      const described = describeAll(
        Array.from({ length: 50 }, (_, cycle) => {
          const requestedAtMs = cycle * CYCLE_MS + 400 * seededFraction(2, kubelet, cycle);
          const takenAtMs = Array.from(
            { length: containers },
            (_, index) => requestedAtMs - ageMs(cycle, index),
          );
          return responseAt(requestedAtMs, { takenAtMs, nodeTakenAtMs: requestedAtMs - ageMs(cycle, 9) / 2 });
        }),
      );
      described.forEach((later, index) => {
        const earlier = described[index - 1];
        if (!earlier) return;
        pairs++;
        if (showsCache(later)) shown++;
        if (isReadOnDemand(earlier, later)) mistaken++;
      });
    }
    expect(mistaken / pairs).to.be.below(0.001);
    expect(shown / pairs).to.be.above(0.6);
  });

  it('shows a cache by one container that is older than a response and a second', () => {
    const shows = (ageMs: number) => {
      const batch = responseAt(5000, { takenAtMs: [5010, 5010 - ageMs], responseMs: 20 });
      return showsCache(describeResponse(undefined, batch));
    };
    expect(shows(1000)).to.equal(false); // timestamps 5 and 4 s
    expect(shows(2000)).to.equal(true); // 5 and 3 s
  });

  it('starts again after a step of the clock, and does not relate responses across it', () => {
    const takenAt = (cycle: number) => Array.from({ length: 6 }, () => cycle * CYCLE_MS + 10);
    const [first, second, third, fourth] = describeAll(
      [0, 0, 1500, 1500].map((leadMs, cycle) =>
        responseAt(cycle * CYCLE_MS, { leadMs: 500 + leadMs, takenAtMs: takenAt(cycle) }),
      ),
    ) as [ReadingResponse, ReadingResponse, ReadingResponse, ReadingResponse];
    expect(isReadOnDemand(first, second)).to.equal(true);
    expect(isReadOnDemand(second, third)).to.equal(false);
    expect(isReadOnDemand(third, fourth)).to.equal(true);
    expect(isReadOnDemand(first, fourth)).to.equal(false);
  });

  it('starts again after a response that shows a cache, however close its bounds are', () => {
    const cached = responseAt(0, { takenAtMs: [0, 0, 0, 0, 0, 2000], responseMs: 955 }); // 5 ms apart
    const onDemand = responseAt(CYCLE_MS, { leadMs: 1000, takenAtMs: Array(6).fill(CYCLE_MS) });
    const [first, second] = describeAll([cached, onDemand]) as [ReadingResponse, ReadingResponse];
    expect([showsCache(first), showsCache(second)]).to.deep.equal([true, false]);
    expect(isReadOnDemand(first, second)).to.equal(false);
  });

  it('concludes nothing from responses without containers, or slow ones', () => {
    const empty = Array.from({ length: 10 }, (_, cycle) => responseAt(cycle * CYCLE_MS, { takenAtMs: [] }));
    const slow = Array.from({ length: 10 }, (_, cycle) =>
      responseAt(cycle * CYCLE_MS, { takenAtMs: [cycle * CYCLE_MS], responseMs: 1001 }),
    );
    for (const batches of [empty, slow]) {
      const last = describeAll(batches).at(-1) as ReadingResponse;
      expect(last.consistentSamples).to.equal(0);
      expect(showsCache(last)).to.equal(false);
    }
  });
});
