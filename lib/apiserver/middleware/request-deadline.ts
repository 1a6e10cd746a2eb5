import type { Middleware } from '#lib/apiserver/http/api-context.ts';
import { RequestDeadline } from '#lib/apiserver/http/request-lifetime.ts';
import { badRequest } from '#lib/apiserver/http/status-error.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import type { Clock } from '#lib/time/clock.ts';
import { parseDurationMs } from '#lib/time/duration.ts';

/**
 * Sets the deadline of a request: its `timeout` parameter, or the server's if that is earlier. The request is also over
 * when the client has left. The `timeout` of a watch is ignored: a watch lasts for its `timeoutSeconds`.
 */
export function requestDeadline({
  clock,
  maxMs,
}: {
  readonly clock: Clock;
  readonly maxMs: number;
}): Middleware {
  return async ({ state }, next) => {
    const { info, query } = state;
    const isWatch = info.isResourceRequest && info.verb === 'watch';
    const requested = isWatch ? null : query.get('timeout');
    const requestedMs = requested ? readTimeoutMs(requested) : 0;
    using deadline = new RequestDeadline(clock, requestedMs > 0 ? Math.min(requestedMs, maxMs) : maxMs);
    state.deadline = deadline;
    state.end.whenOver(() => deadline[Symbol.dispose]());
    await next();
  };
}

function readTimeoutMs(requested: string): number {
  const requestedMs = parseDurationMs(requested);
  if (requestedMs !== undefined) return requestedMs;
  throw badRequest(`invalid timeout specified in the request URL - ${describeError(requested)}`);
}

const AMOUNT = /^(?:\d+(?:\.\d*)?|\.\d+)/;
const UNIT = /^[^.\d]+/;
const UNITS = ['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'];

/** The message of Go's `time.ParseDuration` for an invalid duration. */
function describeError(text: string): string {
  let rest = text.replace(/^[+-]/, '');
  while (rest !== '') {
    const amount = AMOUNT.exec(rest)?.[0];
    if (amount === undefined) break;
    const unit = UNIT.exec(rest.slice(amount.length))?.[0];
    if (unit === undefined) return `time: missing unit in duration ${goQuote(text)}`;
    if (!UNITS.includes(unit)) return `time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`;
    rest = rest.slice(amount.length + unit.length);
  }
  return `time: invalid duration ${goQuote(text)}`;
}
