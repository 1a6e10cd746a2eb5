import type { Clock } from '#lib/time/clock.ts';
import type { Deadline } from '#lib/time/deadline.ts';
import { onAbort } from '#lib/time/on-abort.ts';

/** What a cycle's deadline needs from outside. */
export interface CycleDeadlineOptions {
  readonly clock: Clock;
  readonly durationMs: number;
  readonly signal: AbortSignal;
  /** Makes the reason with which the signal aborts once the time is over. */
  readonly expired: () => Error;
  /** Whether nodes wait for something of our own; looked at when the time is over. */
  readonly isBehind: () => boolean;
  /** Hears that the cycle goes on though its time is over. */
  readonly onExtended: () => void;
}

/** How long a cycle goes on that is behind, before it is looked at again: enough for the last that had to wait. */
export const EXTENSION_MS = 2_000;

/** A deadline that leaves time to nodes that were not asked yet because this process was busy with others. */
export function startCycleDeadline(options: CycleDeadlineOptions): Deadline {
  const { clock, durationMs, signal, expired, isBehind, onExtended } = options;
  const own = new AbortController();
  const parent = onAbort(signal, () => own.abort(signal.reason));
  let wasBehind = false;
  const look = () => {
    const isLate = isBehind();
    if (isLate || wasBehind) {
      wasBehind = isLate;
      timer = clock.startTimer(EXTENSION_MS, look);
      onExtended();
    } else own.abort(expired());
  };
  let timer = clock.startTimer(durationMs, look);
  return {
    signal: own.signal,
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      parent[Symbol.dispose]();
    },
  };
}
