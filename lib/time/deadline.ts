import { onAbort } from './abort-signal.ts';
import type { Clock } from './clock.ts';

/** A signal that aborts after a duration or with its parent; never after its disposal. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/** @param expired creates the abort reason after `durationMs` */
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

/** A signal that aborts after a time without activity, or with its parent. Disposal frees the timer. */
interface IdleTimeout extends Disposable {
  readonly signal: AbortSignal;
  /** Whether the timeout, not the parent, aborted the signal. */
  readonly hasExpired: boolean;
  /** Records activity: the timeout starts again. */
  restart(): void;
}

/** @param expired creates the abort reason after `timeoutMs` without a {@link IdleTimeout.restart} */
export function startIdleTimeout(
  clock: Clock,
  timeoutMs: number,
  options: { readonly signal?: AbortSignal; readonly expired: () => Error },
): IdleTimeout {
  const own = new AbortController();
  const timer = new AbortController();
  let activeAtMs = clock.monotonicMs();
  const leftMs = () => activeAtMs + timeoutMs - clock.monotonicMs();
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
      activeAtMs = clock.monotonicMs();
    },
    [Symbol.dispose]: () => timer.abort(),
  };
}
