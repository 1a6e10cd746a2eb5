import { expect } from 'chai';
import fc from 'fast-check';
import { PackedHistories } from '#lib/resource-metrics/sink/packed-histories.ts';
import type { ReadingResponse } from '#lib/resource-metrics/sink/reading-response.ts';
import type { MeasuredUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import type { UsageHistory } from '#lib/resource-metrics/sink/usage-history.ts';
import { at, readingResponse } from '#spec/support/points.ts';

const whole = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const extraBytes = fc.option(fc.record({ swap: whole, 'ephemeral-storage': whole }, { requiredKeys: [] }), {
  nil: undefined,
});

const response: fc.Arbitrary<ReadingResponse> = fc.record({
  requestedAtMs: whole,
  respondedAtMs: whole,
  receivedAtMs: whole,
  stampResolution: fc.constantFrom('second', 'millisecond'),
  minLeadMs: whole,
  maxLeadMs: whole,
  consistentSinceMs: whole,
  consistentSamples: whole,
});

/** A history whose usage's window ends with its newest reading. */
const history: fc.Arbitrary<UsageHistory> = fc
  .record({
    name: fc.string(),
    readings: fc.array(fc.record({ takenAtMs: whole, cpuCoreNanoseconds: whole, response }), {
      minLength: 1,
      maxLength: 6,
    }),
    startedAtMs: fc.option(whole, { nil: undefined }),
    measured: fc.option(fc.record({ windowMs: whole, cpuNanocores: whole, memoryBytes: whole, extraBytes }), {
      nil: undefined,
    }),
  })
  .map(({ measured, ...history }) => ({ ...history, usage: measured && usageOf(history, measured) }));

function usageOf(
  { name, readings }: Pick<UsageHistory, 'name' | 'readings'>,
  {
    extraBytes: extras,
    ...measured
  }: Pick<MeasuredUsage, 'windowMs' | 'cpuNanocores' | 'memoryBytes' | 'extraBytes'>,
): MeasuredUsage {
  const timestampMs = readings.at(-1)?.takenAtMs ?? Number.NaN;
  return { name, timestampMs, ...measured, ...(extras && { extraBytes: extras }) };
}

const simple = (name: string): UsageHistory => ({
  name,
  readings: [{ takenAtMs: at(0), cpuCoreNanoseconds: 1e9, response: readingResponse() }],
  startedAtMs: undefined,
  usage: undefined,
});

describe('PackedHistories', () => {
  it('returns each history unchanged', () => {
    fc.assert(
      fc.property(fc.array(history, { maxLength: 20 }), (histories) => {
        const packed = new PackedHistories(histories);
        expect(histories.map((_, row) => packed.at(row))).to.deep.equal(histories);
      }),
    );
  });

  it('returns the values of each row', () => {
    fc.assert(
      fc.property(fc.array(history, { minLength: 1, maxLength: 5 }), (histories) => {
        const packed = new PackedHistories(histories);
        histories.forEach(({ name, readings, usage }, row) => {
          expect(packed.nameAt(row)).to.equal(name);
          expect(packed.hasUsageAt(row)).to.equal(usage !== undefined);
          expect(packed.usageAt(row)).to.deep.equal(usage);
          expect(packed.timestampAt(row)).to.equal(readings.at(-1)?.takenAtMs);
          if (usage) expect(packed.windowAt(row)).to.equal(usage.windowMs);
        });
      }),
    );
  });

  it('shares names with the previous histories if they are equal', () => {
    const before = new PackedHistories([simple('a'), simple('b')]);
    const names = before.sameNames([simple('a'), simple('b')]);
    expect(names).to.deep.equal(['a', 'b']);
    expect(
      new PackedHistories([simple('a'), simple('b')], before).sameNames([simple('a'), simple('b')]),
    ).to.equal(names);
    for (const other of [[simple('b'), simple('a')], [simple('a')], []]) {
      expect(before.sameNames(other)).to.equal(undefined);
    }
  });
});
