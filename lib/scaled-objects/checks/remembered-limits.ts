import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { raceAbort } from '#lib/time/race-abort.ts';

type LimitedByDefault = (namespace: string, signal: AbortSignal) => Promise<readonly string[]>;

interface Remembered {
  readonly limits: Promise<readonly string[]>;
  readonly untilMs: number;
}

const REMEMBERED_MS = 10_000;
const MOST_NAMESPACES = 100;
const MOST_AT_ONCE = 2;
const PATIENCE_MS = 2_000;

/**
 * What namespaces give containers by default, for who must not wait, nor have the API server asked at the wish of anybody: asked
 * for no more than two namespaces at once, and remembered for ten seconds.
 *
 * @returns a function that throws where it is not known in time
 */
export function rememberedLimits(
  ask: LimitedByDefault,
  clock: Clock,
): (namespace: string) => Promise<readonly string[]> {
  const remembered = new Map<string, Remembered>();
  let asking = 0;
  const begin = async (namespace: string) => {
    if (asking >= MOST_AT_ONCE) throw new Error('too many namespaces are asked for at once');
    asking++;
    const expired = () => new Error(`the LimitRanges of ${namespace} were not listed in time`);
    using deadline = startDeadline(clock, PATIENCE_MS, { expired });
    try {
      return await raceAbort(ask(namespace, deadline.signal), deadline.signal);
    } finally {
      asking--;
    }
  };
  return async (namespace) => {
    const nowMs = clock.monotonicMs();
    const known = remembered.get(namespace);
    if (known && known.untilMs > nowMs) return await known.limits;
    const limits = begin(namespace);
    remembered.delete(namespace);
    const [oldest] = remembered.keys();
    if (remembered.size >= MOST_NAMESPACES && oldest !== undefined) remembered.delete(oldest);
    remembered.set(namespace, { limits, untilMs: nowMs + REMEMBERED_MS });
    return await limits;
  };
}
