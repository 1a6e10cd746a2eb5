import type { Clock } from '#lib/time/clock.ts';
import { raceAbort } from '#lib/time/race-abort.ts';

/** What clients are kept with. */
export interface KeptClientsOptions<T> {
  readonly clock: Clock;
  /** Ends a client at once, whatever it does. */
  readonly close: (client: T) => void;
  /** A client that nobody has used for so long is closed; by default 5 min. */
  readonly idleMs?: number;
}

interface Kept<T> {
  readonly client: Promise<T>;
  expiry: Disposable | undefined;
  users: number;
}

const IDLE_MS = 300_000;

/**
 * Clients of sources that are connected: made when they are needed, shared by all that need the same, closed when nobody has for
 * a while, and after any failure, for nobody knows what state they are in then.
 */
export class KeptClients<T> implements Disposable {
  readonly #options: KeptClientsOptions<T>;
  readonly #kept = new Map<string, Kept<T>>();
  #isClosed = false;

  constructor(options: KeptClientsOptions<T>) {
    this.#options = options;
  }

  /** How many are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * Has a client do something.
   *
   * @param key the same for those that may share a client
   * @throws what connecting or the work throws; the signal's reason when that aborts
   */
  async use<R>(
    key: string,
    {
      connect,
      work,
      signal,
    }: { connect: () => Promise<T>; work: (client: T) => Promise<R>; signal: AbortSignal },
  ): Promise<R> {
    if (this.#isClosed) throw new Error('the connections are closed');
    const kept = this.#kept.get(key) ?? { client: connect(), expiry: undefined, users: 0 };
    this.#kept.set(key, kept);
    kept.expiry?.[Symbol.dispose]();
    kept.users++;
    try {
      const client = await raceAbort(kept.client, signal);
      return await raceAbort(work(client), signal);
    } catch (error) {
      this.#drop(key, kept);
      throw error;
    } finally {
      kept.users--;
      if (kept.users === 0 && this.#kept.get(key) === kept) {
        const { clock, idleMs = IDLE_MS } = this.#options;
        kept.expiry = clock.startTimer(idleMs, () => this.#drop(key, kept));
      }
    }
  }

  /** Closes all of them. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const [key, kept] of [...this.#kept]) this.#drop(key, kept);
  }

  #drop(key: string, kept: Kept<T>): void {
    if (this.#kept.get(key) === kept) this.#kept.delete(key);
    kept.expiry?.[Symbol.dispose]();
    kept.client.then(
      (client) => this.#options.close(client),
      () => {}, // it never was
    );
  }
}
