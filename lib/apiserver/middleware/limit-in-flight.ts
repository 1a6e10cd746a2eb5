import { isProbe } from '#lib/apiserver/health.ts';
import type { Middleware } from '#lib/apiserver/http/api-context.ts';
import { tooManyRequests } from '#lib/apiserver/http/status-error.ts';
import type { RequestKind, ServingTelemetry } from '#lib/apiserver/serving/serving-telemetry.ts';

/** Maximum numbers of concurrent requests. */
export interface InFlightLimits {
  readonly reading: number;
  /** Of the methods that change objects: none does here, but each costs a refusal. */
  readonly mutating: number;
}

/** Defaults of Kubernetes' servers. */
export const DEFAULT_IN_FLIGHT_LIMITS: InFlightLimits = { reading: 400, mutating: 200 };

const READING_VERBS = ['get', 'list', 'watch'];
const EXEMPT_GROUP = 'system:masters';
const RETRY_AFTER_SECONDS = 1;

/**
 * Responds with 429 to requests beyond a limit. A request counts until its response has been sent. Watches do not
 * count, nor do probes and administrators, who must always get a response. Not a semaphore: nothing waits.
 */
export function limitInFlight(limits: InFlightLimits, telemetry: ServingTelemetry): Middleware {
  const counts = { readOnly: 0, mutating: 0 };
  const change = (kind: RequestKind, by: 1 | -1) => {
    counts[kind] += by;
    telemetry.setInFlight(kind, counts[kind]);
  };
  return (context, next) => {
    const { info, user } = context.state;
    const isWatch = info.isResourceRequest && info.verb === 'watch';
    if (user.groups.includes(EXEMPT_GROUP) || isWatch || isProbe(info)) return next();
    const kind = READING_VERBS.includes(info.verb) ? 'readOnly' : 'mutating';
    if (counts[kind] >= (kind === 'readOnly' ? limits.reading : limits.mutating)) {
      telemetry.recordRefusal('in_flight');
      throw tooManyRequests(RETRY_AFTER_SECONDS);
    }
    change(kind, 1);
    context.state.end.whenOver(() => change(kind, -1));
    return next();
  };
}
