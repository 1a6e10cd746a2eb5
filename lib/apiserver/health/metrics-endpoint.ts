import type { Registry } from 'prom-client';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Prometheus' text format, with the parameter by which newer servers say how they spell names. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

/** Serves the series of a registry, whatever format is asked for, as the reference does. */
export function metricsEndpoint(registry: Registry, clock: Clock): Endpoint {
  const startedAt = String(Math.floor(clock.nowMs() / 1000));
  return async (context) => {
    const text = await registry.metrics();
    context.set('Content-Type', CONTENT_TYPE);
    context.set('Process-Start-Time-Unix', startedAt);
    context.state.gzipFromBytes = 0;
    context.body = Buffer.from(text);
  };
}
