/** Many times what a handshake takes where neither side is busy. */
const SHORTEST_MS = 250;

/** A handshake that takes so many times as long as others do now is slow by itself. */
const TIMES_THE_USUAL = 4;

/** How many of the latest are looked at. */
const LOOKED_AT = 16;

/**
 * Tells from the latest handshakes how long the next may keep its permit.
 *
 * One that takes long is the kubelet's affair only while others are quick. Where all take long, this process or the way to
 * the kubelets is busy, and letting more begin would make all of them slower yet. The quickest quarter counts, so that a
 * minority of slow kubelets cannot hold up the rest.
 */
export class HandshakePace {
  readonly #longestMs: number;
  /** The latest durations, oldest first. */
  readonly #durationsMs: number[] = [];

  /** @param longestMs what a handshake may take at all */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** How long a handshake may keep its permit. */
  get permitMs(): number {
    const quickest = this.#durationsMs.toSorted((one, other) => one - other);
    const usualMs = quickest[Math.floor((LOOKED_AT - 1) / 4)] ?? 0;
    return Math.min(Math.max(TIMES_THE_USUAL * usualMs, SHORTEST_MS), this.#longestMs);
  }

  /** Notes how long a handshake took that was completed. */
  note(durationMs: number): void {
    this.#durationsMs.push(durationMs);
    if (this.#durationsMs.length > LOOKED_AT) this.#durationsMs.shift();
  }
}
