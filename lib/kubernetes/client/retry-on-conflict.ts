import type { Clock } from '#lib/time/clock.ts';
import { isConflict } from './api-error.ts';

/** How often conflicts are tried again. */
export interface ConflictRetryOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** By default 5, the first included. */
  readonly maxAttempts?: number;
  /** A number in [0, 1), so that those in conflict do not meet again; by default `Math.random`. */
  readonly random?: () => number;
}

const MAX_ATTEMPTS = 5;
const DELAY_MS = 10;

/**
 * Does a piece of work again while it fails because somebody else changed the object in between.
 *
 * @param work reads the object and writes it, each time
 * @throws what the work throws, and the last conflict
 */
export async function retryOnConflict<T>(work: () => Promise<T>, options: ConflictRetryOptions): Promise<T> {
  const { clock, signal, maxAttempts = MAX_ATTEMPTS, random = Math.random } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= maxAttempts || !isConflict(error)) throw error;
      await clock.sleep(DELAY_MS * (1 + random()), signal ? { signal } : {});
    }
  }
}
