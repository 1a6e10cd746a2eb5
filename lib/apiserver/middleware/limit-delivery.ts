import type { Middleware } from '#lib/apiserver/http/api-context.ts';
import type { ServingTelemetry } from '#lib/apiserver/serving/serving-telemetry.ts';
import type { Clock } from '#lib/time/clock.ts';

/**
 * Cuts off who does not take a response within the time that a request may last: it would count as under way for good.
 * Watches look after that themselves.
 */
export function limitDelivery(
  { clock, telemetry }: { readonly clock: Clock; readonly telemetry: ServingTelemetry },
  maximumMs: number,
): Middleware {
  return async ({ state, res }, next) => {
    try {
      return await next();
    } finally {
      const { info, end } = state;
      if (!(info.isResourceRequest && info.verb === 'watch')) {
        const timer = clock.startTimer(maximumMs, () => {
          telemetry.recordRefusal('not_read');
          res.destroy();
        });
        end.whenOver(() => timer[Symbol.dispose]());
      }
    }
  };
}
