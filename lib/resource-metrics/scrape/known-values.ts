/** The end of the year 9999, the last that RFC 3339 can write. */
const LATEST_MS = 253_402_300_799_999;

/** What Kubernetes' quantities and the kubelet's own counters end before. */
const LARGEST_AMOUNT = 2 ** 63;

/** Kubelets write 0 for an amount that they do not know, and nobody can tell one that is beyond 2^63. */
export function knownAmount(value: unknown): number | undefined {
  const amount = knownAmountOrZero(value);
  return amount === 0 ? undefined : amount;
}

/** The same where a 0 is one, because kubelets leave out what they do not know. */
export function knownAmountOrZero(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < LARGEST_AMOUNT ? value : undefined;
}

/** A time, in milliseconds since the epoch, of the years 1970 to 9999; Go's zero time, of the year 1, is none. */
export function knownTimeMs(timeMs: number): number | undefined {
  return timeMs > 0 && timeMs <= LATEST_MS ? timeMs : undefined;
}
