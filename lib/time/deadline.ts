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

/** A signal that aborts when nothing has been heard for a while, or its parent does; disposing it frees the timer. */
interface IdleTimeout extends Disposable {
  readonly signal: AbortSignal;
  /** Whether it was the timeout that aborted the signal. */
  readonly hasExpired: boolean;
  /** Something was heard: the timeout begins again. */
  restart(): void;
}

/**
 * Starts an idle timeout on the given clock.
 *
 * @param expired makes the reason with which the signal aborts
 */
export function startIdleTimeout(
  clock: Clock,
  timeoutMs: number,
  options: { readonly signal?: AbortSignal; readonly expired: () => Error },
): IdleTimeout {
  const own = new AbortController();
  const timer = new AbortController();
  let heardAtMs = clock.monotonicMs();
  const leftMs = () => heardAtMs + timeoutMs - clock.monotonicMs();
  const wait = async () => {
    while (leftMs() > 0) await clock.sleep(leftMs(), { signal: timer.signal });
    own.abort(options.expired());
  };
  wait().catch(() => {}); // disposed
  return {
    signal: options.signal ? AbortSignal.any([own.signal, options.signal]) : own.signal,
    get hasExpired() {
      return own.signal.aborted;
    },
    restart: () => {
      heardAtMs = clock.monotonicMs();
    },
    [Symbol.dispose]: () => timer.abort(),
  };
}
