import type { Clock } from '#lib/time/clock.ts';
import { ExcessiveAnswer } from './excessive-answer.ts';

/** What answers of more than the usual length hold together, but for the one that came first. */
export const SHARED_BYTES = 32 * 1024 * 1024;

/** One that says nothing for so long, while others wait, gives up its place. */
const LONGEST_SILENCE_MS = 250;

/** An answer that is being read, and what it holds. */
interface Holder {
  heldBytes: number;
  heardAtMs: number;
  /** Set while it waits for room: how much it wants, and what lets it go on. */
  waiting: { readonly bytes: number; readonly enter: () => void } | undefined;
  readonly evict: (error: Error) => void;
}

/** The part of the memory that one answer takes; disposing it gives that back. */
export interface AnswerShare extends Disposable {
  /**
   * Takes room for what has come in.
   *
   * @throws the signal's reason when it aborts while there is none
   */
  take(bytes: number, signal: AbortSignal): Promise<void>;
}

/**
 * Bounds what long answers hold together: a hundred kubelets that go on and on would otherwise fill our memory, each
 * within what one may say.
 *
 * The answer that came first goes on whatever the others hold, so that never all wait for one another; the others
 * share {@link SHARED_BYTES}. Whoever keeps silent while others wait is not waited for.
 */
export class AnswerMemory {
  readonly #clock: Clock;
  readonly #sharedBytes: number;
  /** In the order in which they came. */
  readonly #holders = new Set<Holder>();
  /** Ends the watch for who keeps silent, which goes on as long as somebody waits. */
  #watch: AbortController | undefined;

  constructor(clock: Clock, sharedBytes: number = SHARED_BYTES) {
    this.#clock = clock;
    this.#sharedBytes = sharedBytes;
  }

  /** @param evict called with the reason when the answer has lost its place */
  enter(evict: (error: Error) => void): AnswerShare {
    const holder: Holder = { heldBytes: 0, heardAtMs: 0, waiting: undefined, evict };
    this.#holders.add(holder);
    return {
      take: (bytes, signal) => this.#take(holder, bytes, signal),
      [Symbol.dispose]: () => this.#leave(holder),
    };
  }

  async #take(holder: Holder, bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#hasRoomFor(holder, bytes)) this.#hold(holder, bytes);
    else await this.#wait(holder, bytes, signal);
  }

  #hold(holder: Holder, bytes: number): void {
    holder.heldBytes += bytes;
    holder.heardAtMs = this.#clock.monotonicMs();
  }

  #hasRoomFor(holder: Holder, bytes: number): boolean {
    const [first, ...others] = this.#holders;
    if (holder === first) return true;
    return others.reduce((sum, { heldBytes }) => sum + heldBytes, bytes) <= this.#sharedBytes;
  }

  #wait(holder: Holder, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal.removeEventListener('abort', onAbort);
        holder.waiting = undefined;
        if (![...this.#holders].some(({ waiting }) => waiting)) this.#watch?.abort();
      };
      const onAbort = () => {
        leave();
        reject(signal.reason);
      };
      const enter = () => {
        leave();
        this.#hold(holder, bytes); // before the next one is asked whether there is room for it, too
        resolve();
      };
      holder.waiting = { bytes, enter };
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      if (!this.#watch || this.#watch.signal.aborted) this.#watchForSilence();
    });
  }

  #leave(holder: Holder): void {
    this.#holders.delete(holder);
    for (const one of this.#holders) {
      if (one.waiting && this.#hasRoomFor(one, one.waiting.bytes)) one.waiting.enter();
    }
  }

  #watchForSilence(): void {
    const watch = new AbortController();
    this.#watch = watch;
    const look = async () => {
      for (;;) {
        await this.#clock.sleep(LONGEST_SILENCE_MS, { signal: watch.signal });
        this.#evictSilent();
      }
    };
    look().catch(() => {}); // nobody waits any more
  }

  #evictSilent(): void {
    const latestMs = this.#clock.monotonicMs() - LONGEST_SILENCE_MS;
    for (const { waiting, heardAtMs, evict } of [...this.#holders]) {
      if (waiting || heardAtMs > latestMs) continue;
      evict(new ExcessiveAnswer('memory', 'it paused in a long answer, while others waited to give theirs'));
    }
  }
}
