import { ExpiringCache } from '#lib/cache/expiring-cache.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';

type Limits = readonly string[];
type LimitedByDefault = (namespace: string, signal: AbortSignal) => Promise<Limits>;

const REMEMBERED_MS = 10_000;
const MOST_NAMESPACES = 100;
const MOST_AT_ONCE = 2;
const PATIENCE_MS = 2_000;

/**
 * What namespaces give containers by default, for who must not wait, nor have the API server asked at the wish of anybody: asked
 * for no more than two namespaces at once, and remembered for ten seconds, that it is not known, too.
 *
 * @returns a function that throws where it is not known in time
 */
export function rememberedLimits(
  ask: LimitedByDefault,
  clock: Clock,
): (namespace: string) => Promise<Limits> {
  const known = new ExpiringCache<Limits | Error>({ clock, maxEntries: MOST_NAMESPACES });
  let asking = 0;
  const look = async (namespace: string): Promise<Limits | Error> => {
    if (asking >= MOST_AT_ONCE) return new Error('too many namespaces are asked for at once');
    asking++;
    const expired = () => new Error(`the LimitRanges of ${namespace} were not listed in time`);
    using deadline = startDeadline(clock, PATIENCE_MS, { expired });
    try {
      return await raceAbort(ask(namespace, deadline.signal), deadline.signal);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      asking--;
    }
  };
  return async (namespace) => {
    const computation = { compute: () => look(namespace), lifetimeMs: () => REMEMBERED_MS };
    const limits = await known.getOrCompute(namespace, computation);
    if (limits instanceof Error) throw limits;
    return limits;
  };
}
