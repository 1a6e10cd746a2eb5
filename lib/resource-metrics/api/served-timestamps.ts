import { isWhole, type SelectedBatch } from '#lib/apiserver/resources/selection.ts';
import type { ServedObject } from '#lib/apiserver/served-object.ts';
import type { UsageSpan } from './usage-fields.ts';

/** An object that tells of when its usage is. */
export interface Timestamped extends ServedObject {
  readonly usage: UsageSpan;
}

/** How many usages have which timestamp, in milliseconds. */
export type TimestampCounts = ReadonlyMap<number, number>;

/** Smaller batches are counted sooner than found again. */
const FEWEST_KEPT = 100;

const KEPT = new WeakMap<readonly Timestamped[], TimestampCounts>();

/** Counts the timestamps of what is selected; of whole batches, which are listed again and again, once for all times. */
export function timestampsOf(selection: readonly SelectedBatch<Timestamped>[]): TimestampCounts {
  const counts = new Map<number, number>();
  for (const selected of selection) {
    const { batch, runs } = selected;
    if (isWhole(selected) && batch.length >= FEWEST_KEPT) {
      for (const [timestampMs, count] of timestampsOfAll(batch)) add(counts, timestampMs, count);
    } else {
      for (const { start, end } of runs) countRun(counts, batch, { start, end });
    }
  }
  return counts;
}

/** Counts a whole batch ahead, as a part of making it. */
export function countTimestamps(batch: readonly Timestamped[]): void {
  if (batch.length >= FEWEST_KEPT) timestampsOfAll(batch);
}

function timestampsOfAll(batch: readonly Timestamped[]): TimestampCounts {
  let counts = KEPT.get(batch);
  if (!counts) {
    const counted = new Map<number, number>();
    countRun(counted, batch, { start: 0, end: batch.length });
    KEPT.set(batch, counted);
    counts = counted;
  }
  return counts;
}

function countRun(
  counts: Map<number, number>,
  batch: readonly Timestamped[],
  { start, end }: { readonly start: number; readonly end: number },
): void {
  for (let index = start; index < end; index++) {
    const object = batch[index];
    if (object) add(counts, object.usage.timestampMs, 1);
  }
}

function add(counts: Map<number, number>, timestampMs: number, count: number): void {
  counts.set(timestampMs, (counts.get(timestampMs) ?? 0) + count);
}
