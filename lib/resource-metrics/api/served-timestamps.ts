import { isWhole, type SelectedBlock } from '#lib/apiserver/resources/selection.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import type { UsageSpan } from './metrics-types.ts';

/** An object that has the time of its usage. */
export interface Timestamped extends ServedObject {
  readonly usage: UsageSpan;
}

/** How many usages have which timestamp, in milliseconds. */
export type TimestampCounts = ReadonlyMap<number, number>;

/** Smaller blocks are counted sooner than found again. */
const FEWEST_KEPT = 100;

/** What is known of a block, which is listed again and again, whole or by the part. */
interface Kept {
  /** Of each object, in milliseconds. */
  readonly timestamps: Float64Array;
  /** Of all. */
  readonly counts: TimestampCounts;
}

const KEPT = new WeakMap<readonly Timestamped[], Kept>();

/** Counts the timestamps of what is selected; objects of long blocks are asked for theirs once for all times. */
export function timestampsOf(selection: readonly SelectedBlock<Timestamped>[]): TimestampCounts {
  const counts = new Map<number, number>();
  for (const selected of selection) {
    const { block, ranges } = selected;
    if (block.length < FEWEST_KEPT) {
      for (const { start, end } of ranges) {
        for (let index = start; index < end; index++) {
          const object = block[index];
          if (object) add(counts, object.usage.timestampMs, 1);
        }
      }
    } else if (isWhole(selected)) {
      for (const [timestampMs, count] of keptOf(block).counts) add(counts, timestampMs, count);
    } else {
      const { timestamps } = keptOf(block);
      for (const { start, end } of ranges) addAll(counts, timestamps.subarray(start, end));
    }
  }
  return counts;
}

/** Counts a whole block ahead, as a part of making it. */
export function countTimestamps(block: readonly Timestamped[]): void {
  if (block.length >= FEWEST_KEPT) keptOf(block);
}

function keptOf(block: readonly Timestamped[]): Kept {
  let kept = KEPT.get(block);
  if (!kept) {
    const timestamps = new Float64Array(block.length);
    block.forEach(({ usage }, index) => {
      timestamps[index] = usage.timestampMs;
    });
    const counts = new Map<number, number>();
    addAll(counts, timestamps);
    kept = { timestamps, counts };
    KEPT.set(block, kept);
  }
  return kept;
}

function addAll(counts: Map<number, number>, timestamps: Float64Array): void {
  for (const timestampMs of timestamps) add(counts, timestampMs, 1);
}

function add(counts: Map<number, number>, timestampMs: number, count: number): void {
  counts.set(timestampMs, (counts.get(timestampMs) ?? 0) + count);
}
