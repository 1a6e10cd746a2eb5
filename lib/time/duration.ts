const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

const DURATION = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/gy;

/**
 * Parses a duration like Go's `time.ParseDuration`: `1m30s`, `1.5h`, `-2s`, `0`.
 *
 * @returns milliseconds; `undefined` for any other text
 */
export function parseDurationMs(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!DURATION.test(text)) return undefined;
  let sumMs = 0;
  for (const [, amount, unit] of text.replace(/^[+-]/, '').matchAll(PART))
    sumMs += Number(amount) * (UNIT_MS.get(unit ?? '') ?? Number.NaN);
  return text.startsWith('-') ? -sumMs : sumMs;
}

/**
 * Formats a duration like Go's `time.Duration.String`: `1m30s`, `14.997s`, `250ms`, `0s`.
 *
 * @param durationMs milliseconds, rounded to nanoseconds
 */
export function formatDuration(durationMs: number): string {
  const nanoseconds = Math.round(Math.abs(durationMs) * 1e6);
  if (nanoseconds === 0) return '0s';
  const sign = durationMs < 0 ? '-' : '';
  if (nanoseconds < 1e3) return `${sign}${nanoseconds}ns`;
  if (nanoseconds < 1e6) return `${sign}${nanoseconds / 1e3}µs`;
  if (nanoseconds < 1e9) return `${sign}${nanoseconds / 1e6}ms`;
  const hours = Math.floor(nanoseconds / 3.6e12);
  const minutes = Math.floor((nanoseconds % 3.6e12) / 6e10);
  const seconds = `${(nanoseconds % 6e10) / 1e9}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}
