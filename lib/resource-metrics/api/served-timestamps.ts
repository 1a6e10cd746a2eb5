import { isWhole, type SelectedBatch } from '#lib/apiserver/objects/selection.ts';
import type { ServedObject } from '#lib/apiserver/objects/served-object.ts';
import type { UsageSpan } from './usage-fields.ts';

/** An object that has the time of its usage. */
export interface Timestamped extends ServedObject {
  readonly usage: UsageSpan;
}

/** How many usages have which timestamp, in milliseconds. */
export type TimestampCounts = ReadonlyMap<number, number>;

/** Smaller batches are counted sooner than found again. */
const FEWEST_KEPT = 100;

/** What is known of a batch, which is listed again and again, whole or by the part. */
interface Kept {
  /** Of each object, in milliseconds. */
  readonly timestamps: Float64Array;
  /** Of all. */
  readonly counts: TimestampCounts;
}

const KEPT = new WeakMap<readonly Timestamped[], Kept>();

/** Counts the timestamps of what is selected; objects of long batches are asked for theirs once for all times. */
export function timestampsOf(selection: readonly SelectedBatch<Timestamped>[]): TimestampCounts {
  const counts = new Map<number, number>();
  for (const selected of selection) {
    const { batch, runs } = selected;
    if (batch.length < FEWEST_KEPT) {
      for (const { start, end } of runs) {
        for (let index = start; index < end; index++) {
          const object = batch[index];
          if (object) add(counts, object.usage.timestampMs, 1);
        }
      }
    } else if (isWhole(selected)) {
      for (const [timestampMs, count] of keptOf(batch).counts) add(counts, timestampMs, count);
    } else {
      const { timestamps } = keptOf(batch);
      for (const { start, end } of runs) addAll(counts, timestamps.subarray(start, end));
    }
  }
  return counts;
}

/** Counts a whole batch ahead, as a part of making it. */
export function countTimestamps(batch: readonly Timestamped[]): void {
  if (batch.length >= FEWEST_KEPT) keptOf(batch);
}

function keptOf(batch: readonly Timestamped[]): Kept {
  let kept = KEPT.get(batch);
  if (!kept) {
    const timestamps = new Float64Array(batch.length);
    batch.forEach(({ usage }, index) => {
      timestamps[index] = usage.timestampMs;
    });
    const counts = new Map<number, number>();
    addAll(counts, timestamps);
    kept = { timestamps, counts };
    KEPT.set(batch, kept);
  }
  return kept;
}

function addAll(counts: Map<number, number>, timestamps: Float64Array): void {
  for (const timestampMs of timestamps) add(counts, timestampMs, 1);
}

function add(counts: Map<number, number>, timestampMs: number, count: number): void {
  counts.set(timestampMs, (counts.get(timestampMs) ?? 0) + count);
}
