import type { Clock } from './clock.ts';

/** A signal that aborts when nothing has been heard for a while, or its parent does; disposing it frees the timer. */
export interface Silence extends Disposable {
  readonly signal: AbortSignal;
  /** Whether it was silence that aborted the signal. */
  readonly isTooLong: boolean;
  /** Begins to wait anew. */
  interrupt(): void;
}

/**
 * Listens for silence on the given clock.
 *
 * @param expired makes the reason with which the signal aborts
 */
export function listenForSilence(
  clock: Clock,
  longestMs: number,
  options: { readonly signal?: AbortSignal; readonly expired: () => Error },
): Silence {
  const own = new AbortController();
  const timer = new AbortController();
  let heardAtMs = clock.monotonicMs();
  const leftMs = () => heardAtMs + longestMs - clock.monotonicMs();
  const wait = async () => {
    while (leftMs() > 0) await clock.sleep(leftMs(), { signal: timer.signal });
    own.abort(options.expired());
  };
  wait().catch(() => {}); // disposed
  return {
    signal: options.signal ? AbortSignal.any([own.signal, options.signal]) : own.signal,
    get isTooLong() {
      return own.signal.aborted;
    },
    interrupt: () => {
      heardAtMs = clock.monotonicMs();
    },
    [Symbol.dispose]: () => timer.abort(),
  };
}
