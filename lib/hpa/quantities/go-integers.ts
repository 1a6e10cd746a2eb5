/** The largest integer of 64 bits. */
export const MAX_INT64 = 2n ** 63n - 1n;

/** Keeps the low 64 bits, as Go's `int64` does when a sum or product exceeds it. */
export function toInt64(amount: bigint): bigint {
  return BigInt.asIntN(64, amount);
}

/** Keeps the low 32 bits, as Go's `int32(x)` does. */
export function toInt32(amount: bigint): number {
  return Number(BigInt.asIntN(32, amount));
}

/** The largest replica count that there is. */
export const MOST_REPLICAS = 2 ** 31 - 1;

/**
 * Rounds a number of replicas up.
 *
 * @returns `undefined` where it is none or exceeds 32 bits: what Go makes of such a number depends on the processor
 */
export function ceilReplicas(replicas: number): number | undefined {
  const whole = Math.ceil(replicas);
  return whole >= -MOST_REPLICAS - 1 && whole <= MOST_REPLICAS ? whole + 0 : undefined;
}
