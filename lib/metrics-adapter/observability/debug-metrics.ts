import { debugEndpoint } from '#lib/apiserver/debug-endpoint.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import type { Collection } from '#lib/collection/collection.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { HpaCollectors } from '../plans/hpa-collectors.ts';
import { type CollectedState, collectedStates } from './metrics-adapter-series.ts';

export interface DebuggedMetrics {
  readonly collectors: Pick<HpaCollectors, 'collected'>;
  readonly collection: Pick<Collection, 'reports'>;
  readonly clock: Clock;
}

/** `/debug/metrics?namespace=&name=`: the queries of HPAs, their results, and what cannot be collected and why. */
export function debugMetrics({ collectors, collection, clock }: DebuggedMetrics): Endpoint {
  return debugEndpoint(['namespace', 'name'], (query) => {
    const [namespace, name] = [query.get('namespace'), query.get('name')];
    const isSelected = (hpa: string) => {
      const [itsNamespace, itsName] = hpa.split('/');
      return (!namespace || namespace === itsNamespace) && (!name || name === itsName);
    };
    const nowMs = clock.nowMs();
    return {
      collected: [...collectedStates(collectors, collection)]
        .filter(({ hpa }) => isSelected(hpa))
        .map((state) => shown(state, nowMs)),
      problems: [...collectors.collected]
        .filter(([hpa]) => isSelected(hpa))
        .flatMap(([hpa, { problems }]) =>
          problems.map(({ metric, error }) => ({ hpa, metric, error: describeError(error) })),
        ),
    };
  });
}

function shown({ receivedAtMs, nextInMs, failingSinceMs, ...state }: CollectedState, nowMs: number) {
  return {
    ...state,
    receivedAt: receivedAtMs && new Date(receivedAtMs).toISOString(),
    ageMs: receivedAtMs && Math.round(nowMs - receivedAtMs),
    nextInMs: Math.round(nextInMs),
    failingSince: failingSinceMs && new Date(failingSinceMs).toISOString(),
  };
}
