import type { Clock } from './clock.ts';

/** A signal that aborts after a while or when its parent does; disposing it frees the timer. */
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
  options: { readonly signal?: AbortSignal; readonly expired: () => Error },
): Deadline {
  const own = new AbortController();
  const timer = new AbortController();
  const signal = options.signal ? AbortSignal.any([own.signal, options.signal]) : own.signal;
  clock.sleep(durationMs, { signal: timer.signal }).then(
    () => own.abort(options.expired()),
    () => {}, // disposed: the work ended first
  );
  return { signal, [Symbol.dispose]: () => timer.abort() };
}
