/** A time up to now, as KairosDB has it. */
export interface RelativeTime {
  readonly value: number;
  readonly unit: string;
}

const DAY_MS = 86_400_000;
/** The longest first; a year and a month as ZMON counts them. */
const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['years', 365 * DAY_MS],
  ['months', 30 * DAY_MS],
  ['weeks', 7 * DAY_MS],
  ['days', DAY_MS],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1_000],
  ['milliseconds', 1],
];

/** Writes a duration in the longest unit that fits into it, rounded to whole ones. */
export function relativeTime(durationMs: number): RelativeTime {
  const [unit, ms] = UNITS.find(([, length]) => durationMs >= length) ?? ['milliseconds', 1];
  return { value: Math.round(durationMs / ms), unit };
}
