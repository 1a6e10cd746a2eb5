import { methodNotAllowed } from '#lib/apiserver/errors/failures.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { refuseUnknownParameters } from '#lib/apiserver/http/known-parameters.ts';
import { writeBody } from '#lib/apiserver/http/write-response.ts';
import type { Collection } from '#lib/collection/collection.ts';
import { describeError } from '#lib/telemetry/logger.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type CollectedState, collectedStates } from './collected-states.ts';
import type { HpaCollectors } from './plans/hpa-collectors.ts';

/** What is looked at. */
export interface DebuggedMetrics {
  readonly collectors: Pick<HpaCollectors, 'known'>;
  readonly collection: Pick<Collection, 'reports'>;
  readonly clock: Clock;
}

/**
 * `/debug/metrics?namespace=&name=`: what is collected of whom for which HPA, what came of it, and what cannot be collected
 * and why.
 */
export function debugMetrics({ collectors, collection, clock }: DebuggedMetrics): Endpoint {
  return (context) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') throw methodNotAllowed();
    const { query } = context.state;
    refuseUnknownParameters(query, ['namespace', 'name']);
    const [namespace, name] = [query.get('namespace'), query.get('name')];
    const isAskedFor = (hpa: string) => {
      const [itsNamespace, itsName] = hpa.split('/');
      return (!namespace || namespace === itsNamespace) && (!name || name === itsName);
    };
    const nowMs = clock.nowMs();
    const text = JSON.stringify(
      {
        collected: [...collectedStates(collectors, collection)]
          .filter(({ hpa }) => isAskedFor(hpa))
          .map((state) => shown(state, nowMs)),
        problems: [...collectors.known]
          .filter(([hpa]) => isAskedFor(hpa))
          .flatMap(([hpa, { problems }]) =>
            problems.map(({ metric, error }) => ({ hpa, metric, error: describeError(error) })),
          ),
      },
      undefined,
      2,
    );
    writeBody(context, Buffer.from(`${printableLines(text)}\n`), 'json');
  };
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
