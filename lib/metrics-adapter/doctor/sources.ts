import { Semaphore } from '#lib/concurrency/semaphore.ts';
import { type Check, type Finding, note, ok } from '#lib/doctor/check.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import type { Query } from '#lib/sources/query.ts';
import { findSourceRemedy } from '#lib/sources/source-failures.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { type ExaminedMetric, type ExaminedMetrics, failed, subjectOf } from './examined-metrics.ts';

const AT_ONCE = 16;
/** Bounds the examination: of more queries, the first are sent. */
const MAX_QUERIES = 500;
const TIMEOUT_MS = 15_000;

/**
 * Checks that each source responds, and that each query has a result: they are sent as the autoscaler sends them, equal
 * ones once.
 */
export function sources(examined: ExaminedMetrics): Check {
  return {
    name: 'metrics-sources',
    title: 'Sources of collected metrics',

    async run(context) {
      return await examined.withPlans(context, async ({ metrics }) => {
        const byQuery = Map.groupBy(metrics, ({ planned }) => planned.query.key);
        if (byQuery.size === 0) return [note('sources', 'nothing is collected')];
        const requested = [...byQuery.values()].slice(0, MAX_QUERIES);
        const semaphore = new Semaphore(AT_ONCE);
        const found = await Promise.all(
          requested.map(async (same) => {
            using _permit = await semaphore.acquire(context.signal);
            return await examineQuery(context, same, examined.silentQueries);
          }),
        );
        const left = byQuery.size - requested.length;
        return [...found.flat(), ...(left > 0 ? [note('sources', `${left} more queries were not run`)] : [])];
      });
    },
  };
}

async function examineQuery(
  context: ClusterContext,
  same: readonly ExaminedMetric[],
  silentQueries: Set<string>,
): Promise<readonly Finding[]> {
  const [first] = same;
  if (!first) return [];
  const { query } = first.planned;
  const notes: string[] = [];
  try {
    const samples = await runQuery(query, context, (text) => notes.push(text));
    if (samples.length === 0)
      return same.map((one) => note(subjectOf(one), `${query.description}: the target has no pods to query`));
    const ofAll = samples.length === 1 ? '1 value' : `${samples.length} values`;
    return [
      ...same.map((one) => ok(subjectOf(one), `${query.description}: ${ofAll}`)),
      ...notes.slice(0, 3).map((text) => note(subjectOf(first), text)),
    ];
  } catch (error) {
    context.signal.throwIfAborted();
    silentQueries.add(query.key);
    return same.map((one) =>
      failed(subjectOf(one), `${query.description}: ${describeError(error)}`, {
        diagnosis: 'metric-source-silent',
        remedy: findSourceRemedy(error),
        ...{ KIND: 'hpa', NAMESPACE: one.hpa.namespace, NAME: one.hpa.name },
      }),
    );
  }
}

async function runQuery(
  { run, timeoutMs = TIMEOUT_MS }: Query,
  { clock, signal }: ClusterContext,
  note: (text: string) => void,
) {
  const expired = () => new Error(`no response within ${formatDuration(timeoutMs)}`);
  using deadline = startDeadline(clock, timeoutMs, { signal, expired });
  return await raceAbort(run(deadline.signal, note), deadline.signal);
}
