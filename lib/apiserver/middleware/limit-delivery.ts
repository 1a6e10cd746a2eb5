import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import { COUNTED_FROM_BYTES } from '#lib/apiserver/http/response-body.ts';
import type { ServingTelemetry } from '#lib/apiserver/serving/serving-telemetry.ts';
import type { Clock } from '#lib/time/clock.ts';

/**
 * So many short responses may wait for their clients to take them, which takes milliseconds. Each holds 10 kB, and a client
 * that takes none may ask for 100 on each of its connections. Long ones are counted by what they hold.
 */
const MOST_UNREAD = 2_000;

/**
 * Cuts off who does not take a response within the time that a request may last, be it a refusal: it would count as under
 * way for good. While too many wait to be taken, the oldest is cut off at once. Streams of events look after that themselves.
 */
export function limitDelivery({
  clock,
  telemetry,
  maximumMs,
}: {
  readonly clock: Clock;
  readonly telemetry: ServingTelemetry;
  readonly maximumMs: number;
}): (context: ApiContext) => void {
  /** Each cuts one off; the oldest comes first. */
  const unread = new Set<() => void>();
  return ({ state, res, response }) => {
    if (state.isEventStream) return;
    const cutOff = () => {
      telemetry.recordRefusal('not_read');
      res.destroy();
    };
    const timer = clock.startTimer(maximumMs, cutOff);
    if ((response.length ?? 0) < COUNTED_FROM_BYTES) unread.add(cutOff);
    state.end.whenOver(() => {
      timer[Symbol.dispose]();
      unread.delete(cutOff);
    });
    if (unread.size <= MOST_UNREAD) return;
    const [oldest] = unread;
    if (oldest) unread.delete(oldest);
    oldest?.();
  };
}
