import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Shared by all responses of more than the usual length, except the oldest. */
const SHARED_BYTES = 32 * 1024 * 1024;

/**
 * Interval of checks for stalled responses while others wait; one that is stalled in two consecutive checks is
 * evicted.
 */
const CHECK_INTERVAL_MS = 250;

/** Receives the state of one response. */
export interface ResponseMemoryListener {
  /** The requested memory is reserved. */
  onReserved(): void;
  /** The response has lost its reservation. */
  onEvicted(reason: Error): void;
}

/** The memory reserved by one response; disposal releases it. */
export interface ResponseShare extends Disposable {
  /**
   * Requests a total number of bytes.
   *
   * @returns whether they are reserved; if not, the listener is called when they are
   */
  reserve(bytes: number): boolean;
  /** Records that data has been received. */
  recordProgress(): void;
}

interface Reservation {
  reservedBytes: number;
  /** Above `reservedBytes` while it waits. */
  requestedBytes: number;
  /** Whether nothing was received since the last check. */
  isStalled: boolean;
  readonly listener: ResponseMemoryListener;
}

/**
 * Limits the memory of long responses together. Otherwise a hundred endless ones, each below its limit, would fill
 * the memory.
 *
 * The oldest response always gets memory, so responses never all wait for each other; the others share {@link
 * SHARED_BYTES}. One that stalls while others wait is evicted.
 */
export class ResponseMemory {
  readonly #clock: Clock;
  readonly #sharedBytes: number;
  /** Oldest first. */
  readonly #reservations = new Set<Reservation>();
  #reservedBytes = 0;
  #nextCheck: Disposable | undefined;

  constructor(clock: Clock, sharedBytes: number = SHARED_BYTES) {
    this.#clock = clock;
    this.#sharedBytes = sharedBytes;
  }

  open(listener: ResponseMemoryListener): ResponseShare {
    const reservation: Reservation = { reservedBytes: 0, requestedBytes: 0, isStalled: false, listener };
    this.#reservations.add(reservation);
    return {
      reserve: (bytes) => {
        reservation.requestedBytes = Math.max(bytes, reservation.requestedBytes);
        if (!this.#tryToReserve(reservation)) this.#nextCheck ??= this.#scheduleCheck();
        return !isWaiting(reservation);
      },
      recordProgress: () => {
        reservation.isStalled = false;
      },
      [Symbol.dispose]: () => this.#release(reservation),
    };
  }

  #tryToReserve(reservation: Reservation): boolean {
    const [oldest] = this.#reservations;
    const moreBytes = reservation.requestedBytes - reservation.reservedBytes;
    const sharedBytes = this.#reservedBytes - (oldest?.reservedBytes ?? 0);
    if (reservation !== oldest && sharedBytes + moreBytes > this.#sharedBytes) return false;
    this.#reservedBytes += moreBytes;
    reservation.reservedBytes = reservation.requestedBytes;
    reservation.isStalled = false;
    return true;
  }

  #release(reservation: Reservation): void {
    if (!this.#reservations.delete(reservation)) return;
    this.#reservedBytes -= reservation.reservedBytes;
    for (const waiting of [...this.#reservations].filter(isWaiting)) {
      if (this.#reservations.has(waiting) && this.#tryToReserve(waiting)) waiting.listener.onReserved();
    }
    if ([...this.#reservations].some(isWaiting)) return;
    this.#nextCheck?.[Symbol.dispose]();
    this.#nextCheck = undefined;
  }

  #scheduleCheck(): Disposable {
    return this.#clock.startTimer(CHECK_INTERVAL_MS, () => {
      this.#nextCheck = undefined;
      this.#evictStalled();
      if ([...this.#reservations].some(isWaiting)) this.#nextCheck = this.#scheduleCheck();
    });
  }

  #evictStalled(): void {
    for (const reservation of [...this.#reservations]) {
      if (isWaiting(reservation) || !this.#reservations.has(reservation)) continue;
      if (!reservation.isStalled) reservation.isStalled = true;
      else reservation.listener.onEvicted(stalledError());
    }
  }
}

function isWaiting({ reservedBytes, requestedBytes }: Reservation): boolean {
  return reservedBytes < requestedBytes;
}

function stalledError(): Error {
  return new ExcessiveResponse('memory', 'the response stalled while other responses waited for memory');
}
