import type { NodeRecord } from './node-record.ts';

/** What tells how long the last good response of a node is served. */
export interface StalenessLimits {
  readonly resolutionMs: number;
  /** How old a response may be when a scrape of its node is lost, and still be served; 0 for not at all. */
  readonly stalenessMs: number;
}

/** In which cycles a node responded and was lost, by when they began. */
type NodeCycles = Pick<NodeRecord, 'respondedInCycleMs' | 'lostInCycleMs'>;

/**
 * A cycle begins within one and a half resolutions of the one before, or is late, and ends within another. A node that
 * has neither responded nor been lost for so long is not scraped any more.
 */
const SILENT_RESOLUTIONS = 2.5;

/** Whether a scrape was lost since the node responded. */
export function isStale({ lostInCycleMs }: NodeCycles): boolean {
  return lostInCycleMs !== undefined;
}

/**
 * Until when the last good response of a node is served, on our monotonic clock.
 *
 * Its age is judged once a cycle, when a scrape is lost: it is the time from the start of the cycle that brought the response
 * to the start of the one that lost the scrape. So one lost scrape makes one resolution and two make two, however long
 * the kubelet takes to respond or to fail. Between losses nothing expires, unless cycles stop altogether.
 */
export function servedUntilMs(
  { respondedInCycleMs, lostInCycleMs }: NodeCycles,
  { resolutionMs, stalenessMs }: StalenessLimits,
): number {
  const silentMs = SILENT_RESOLUTIONS * resolutionMs;
  if (lostInCycleMs === undefined) return respondedInCycleMs + silentMs;
  const isTooOld = inWholeSeconds(lostInCycleMs - respondedInCycleMs) >= stalenessMs;
  return isTooOld ? Number.NEGATIVE_INFINITY : lostInCycleMs + silentMs;
}

/** Cycles begin some milliseconds late: twice the resolution is to be as much, and no less. */
function inWholeSeconds(durationMs: number): number {
  return Math.round(durationMs / 1000) * 1000;
}
