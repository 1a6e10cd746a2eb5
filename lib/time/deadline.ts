import { onAbort } from './abort-signal.ts';
import type { Clock } from './clock.ts';

/** A signal that aborts after a while or when its parent does; never after it was disposed of. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Starts a deadline on the given clock.
 *
 * @param expired makes the reason with which the signal aborts once `durationMs` have passed
 */
export function startDeadline(
  clock: Clock,
  durationMs: number,
  { signal, expired }: { readonly signal?: AbortSignal; readonly expired: () => Error },
): Deadline {
  const own = new AbortController();
  const timer = clock.startTimer(durationMs, () => own.abort(expired()));
  const parent = onAbort(signal, () => own.abort(signal?.reason));
  return {
    signal: own.signal,
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      parent[Symbol.dispose]();
    },
  };
}
