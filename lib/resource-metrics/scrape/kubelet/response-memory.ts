import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What responses of more than the usual length hold together, but for the one that came first. */
const SHARED_BYTES = 32 * 1024 * 1024;

/** How often is looked who is silent while others wait: who was at two looks in succession gives up its place. */
const LOOK_INTERVAL_MS = 250;

/** What hears how a response fares. */
export interface ResponseMemoryListener {
  /** What was asked for is held now. */
  onHeld(): void;
  /** The response has lost its place. */
  onEvicted(reason: Error): void;
}

/** The part of the memory that one response holds; disposing it gives that back. */
export interface ResponseShare extends Disposable {
  /**
   * Asks for so many bytes in all.
   *
   * @returns whether they are held; if they are not, the listener hears of it once they are
   */
  hold(bytes: number): boolean;
  /** Notes that more of the response has come in. */
  noteProgress(): void;
}

interface Holder {
  heldBytes: number;
  /** More than what is held while it waits. */
  wantedBytes: number;
  /** Whether nothing was heard of it since the last look. */
  isSilent: boolean;
  readonly listener: ResponseMemoryListener;
}

/**
 * Bounds what long responses hold together: a hundred kubelets that go on and on would otherwise fill our memory, each
 * within what one may say.
 *
 * The response that came first goes on whatever the others hold, so that never all wait for one another; the others
 * share {@link SHARED_BYTES}. One that is silent while others wait is not waited for.
 */
export class ResponseMemory {
  readonly #clock: Clock;
  readonly #sharedBytes: number;
  /** In the order in which they came. */
  readonly #holders = new Set<Holder>();
  #heldBytes = 0;
  #nextLook: Disposable | undefined;

  constructor(clock: Clock, sharedBytes: number = SHARED_BYTES) {
    this.#clock = clock;
    this.#sharedBytes = sharedBytes;
  }

  enter(listener: ResponseMemoryListener): ResponseShare {
    const holder: Holder = { heldBytes: 0, wantedBytes: 0, isSilent: false, listener };
    this.#holders.add(holder);
    return {
      hold: (bytes) => {
        holder.wantedBytes = Math.max(bytes, holder.wantedBytes);
        if (!this.#tryToHold(holder)) this.#nextLook ??= this.#lookLater();
        return !isWaiting(holder);
      },
      noteProgress: () => {
        holder.isSilent = false;
      },
      [Symbol.dispose]: () => this.#leave(holder),
    };
  }

  #tryToHold(holder: Holder): boolean {
    const [first] = this.#holders;
    const moreBytes = holder.wantedBytes - holder.heldBytes;
    const sharedBytes = this.#heldBytes - (first?.heldBytes ?? 0);
    if (holder !== first && sharedBytes + moreBytes > this.#sharedBytes) return false;
    this.#heldBytes += moreBytes;
    holder.heldBytes = holder.wantedBytes;
    holder.isSilent = false;
    return true;
  }

  #leave(holder: Holder): void {
    if (!this.#holders.delete(holder)) return;
    this.#heldBytes -= holder.heldBytes;
    for (const waiting of [...this.#holders].filter(isWaiting)) {
      if (this.#holders.has(waiting) && this.#tryToHold(waiting)) waiting.listener.onHeld();
    }
    if ([...this.#holders].some(isWaiting)) return;
    this.#nextLook?.[Symbol.dispose]();
    this.#nextLook = undefined;
  }

  #lookLater(): Disposable {
    return this.#clock.startTimer(LOOK_INTERVAL_MS, () => {
      this.#nextLook = undefined;
      this.#evictSilent();
      if ([...this.#holders].some(isWaiting)) this.#nextLook = this.#lookLater();
    });
  }

  #evictSilent(): void {
    for (const holder of [...this.#holders]) {
      if (isWaiting(holder) || !this.#holders.has(holder)) continue;
      if (!holder.isSilent) holder.isSilent = true;
      else holder.listener.onEvicted(silenceError());
    }
  }
}

function isWaiting({ heldBytes, wantedBytes }: Holder): boolean {
  return heldBytes < wantedBytes;
}

function silenceError(): Error {
  return new ExcessiveResponse('memory', 'it paused in a long response, while others waited to give theirs');
}
