import type { Middleware } from '#lib/apiserver/http/api-context.ts';
import { RequestDeadline } from '#lib/apiserver/http/request-lifetime.ts';
import { badRequest } from '#lib/apiserver/http/status-error.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import type { Clock } from '#lib/time/clock.ts';
import { parseDurationMs } from '#lib/time/duration.ts';

/**
 * Gives every request a deadline: that of its `timeout` parameter, unless that is longer than the server's. It is over, too,
 * when the client has gone: nobody waits for the response any more. The `timeout` of a watch is not looked at, for a
 * watch lasts as long as its `timeoutSeconds` say.
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
    const asked = isWatch ? null : query.get('timeout');
    const askedMs = asked ? readTimeoutMs(asked) : 0;
    using deadline = new RequestDeadline(clock, askedMs > 0 ? Math.min(askedMs, maxMs) : maxMs);
    state.deadline = deadline;
    state.end.whenOver(() => deadline[Symbol.dispose]());
    await next();
  };
}

function readTimeoutMs(asked: string): number {
  const askedMs = parseDurationMs(asked);
  if (askedMs !== undefined) return askedMs;
  throw badRequest(`invalid timeout specified in the request URL - ${describeError(asked)}`);
}

const AMOUNT = /^(?:\d+(?:\.\d*)?|\.\d+)/;
const UNIT = /^[^.\d]+/;
const UNITS = ['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'];

/** Says in the words of Go's `time.ParseDuration` why a text is no duration. */
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
