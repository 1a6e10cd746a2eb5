import { isWhole, type SelectedBlock } from '#lib/apiserver/resources/selection.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import type { UsageSpan } from './metrics-types.ts';

export interface Timestamped extends ServedObject {
  readonly usage: UsageSpan;
}

/** Number of usages by timestamp in milliseconds. */
export type TimestampCounts = ReadonlyMap<number, number>;

/** Counting shorter blocks is faster than a cache lookup. */
const MIN_CACHED_LENGTH = 100;

/** The timestamps of a block, which is listed repeatedly, as a whole or in part. */
interface BlockTimestamps {
  /** Of each object, in milliseconds. */
  readonly timestamps: Float64Array;
  /** Of the whole block. */
  readonly counts: TimestampCounts;
}

const CACHE = new WeakMap<readonly Timestamped[], BlockTimestamps>();

/** Counts the timestamps of selected objects. Timestamps of long blocks are cached. */
export function countSelectedTimestamps(selection: readonly SelectedBlock<Timestamped>[]): TimestampCounts {
  const counts = new Map<number, number>();
  for (const selected of selection) {
    const { block, ranges } = selected;
    if (block.length < MIN_CACHED_LENGTH) {
      for (const { start, end } of ranges) {
        for (let index = start; index < end; index++) {
          const object = block[index];
          if (object) add(counts, object.usage.timestampMs, 1);
        }
      }
    } else if (isWhole(selected)) {
      for (const [timestampMs, count] of cachedTimestamps(block).counts) add(counts, timestampMs, count);
    } else {
      const { timestamps } = cachedTimestamps(block);
      for (const { start, end } of ranges) addAll(counts, timestamps.subarray(start, end));
    }
  }
  return counts;
}

/** Caches the timestamps of a block when it is created. */
export function countTimestamps(block: readonly Timestamped[]): void {
  if (block.length >= MIN_CACHED_LENGTH) cachedTimestamps(block);
}

function cachedTimestamps(block: readonly Timestamped[]): BlockTimestamps {
  let cached = CACHE.get(block);
  if (!cached) {
    const timestamps = new Float64Array(block.length);
    block.forEach(({ usage }, index) => {
      timestamps[index] = usage.timestampMs;
    });
    const counts = new Map<number, number>();
    addAll(counts, timestamps);
    cached = { timestamps, counts };
    CACHE.set(block, cached);
  }
  return cached;
}

function addAll(counts: Map<number, number>, timestamps: Float64Array): void {
  for (const timestampMs of timestamps) add(counts, timestampMs, 1);
}

function add(counts: Map<number, number>, timestampMs: number, count: number): void {
  counts.set(timestampMs, (counts.get(timestampMs) ?? 0) + count);
}
