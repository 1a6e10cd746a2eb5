import type { MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { MetricReading } from '../objects/metric-reading.ts';
import { type MetricReaderOptions, type ReadingContext, readMetric } from './metric-reader.ts';

/** What reading all metrics of an HPA takes besides. */
export interface ReadMetricsOptions {
  readonly reader: MetricReaderOptions;
  readonly clock: Clock;
  /** Told of each metric, by its place, how long reading it took. */
  readonly onRead: (place: number, durationMs: number) => void;
}

/** So many of one HPA are read at once: one with a thousand metrics leaves the others their part of the requests. */
const MOST_AT_ONCE = 8;
/** What is not read by then is missing; a decision has to be made, and told, well within a minute. */
const WITHIN_MS = 40_000;

/** Reads the metrics of an HPA, each in its place; one that is late is a reading that failed, and costs itself alone. */
export async function readMetrics(
  metrics: readonly MetricSpec[],
  context: ReadingContext,
  { reader, clock, onRead }: ReadMetricsOptions,
): Promise<readonly MetricReading[]> {
  const expired = () => new Error(LATE);
  using deadline = startDeadline(clock, WITHIN_MS, { signal: context.signal, expired });
  const { signal } = deadline;
  const readings: MetricReading[] = metrics.map(() => ({ error: LATE }));
  const waiting = metrics.entries();
  const work = async () => {
    for (const [place, metric] of waiting) {
      if (signal.aborted) return;
      const startedAtMs = clock.monotonicMs();
      const reading = await readMetric(metric, { ...context, signal }, reader).catch((error: unknown) => {
        context.signal.throwIfAborted();
        if (signal.aborted) return { error: LATE };
        throw error;
      });
      onRead(place, clock.monotonicMs() - startedAtMs);
      readings[place] = reading;
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, metrics.length) }, work));
  context.signal.throwIfAborted();
  return readings;
}

const LATE = `not read within ${formatDuration(WITHIN_MS)}, in which all metrics of an HPA have to be read`;
