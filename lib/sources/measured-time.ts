/** The last moment that RFC 3339 can write: its years have four digits. */
const LAST_MS = Date.UTC(10_000, 0) - 1;

/** When a sample was measured, as its source says; nothing where that is no time from 1970 to 9999, which nobody could be told. */
export function measuredAt(timeMs: number): { readonly takenAtMs?: number } {
  return timeMs >= 0 && timeMs <= LAST_MS ? { takenAtMs: Math.round(timeMs) } : {};
}
