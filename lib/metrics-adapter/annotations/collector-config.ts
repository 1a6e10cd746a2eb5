import { formatDuration, parseDurationMs } from '#lib/time/duration.ts';
import type { HpaMetric } from './collected-metrics.ts';

/** What annotations say of how one metric is collected. */
export interface CollectorConfig {
  readonly type: HpaMetric['type'];
  readonly metric: string;
  readonly collector: string;
  /** Absent where the default counts. */
  readonly intervalMs?: number;
  /** Whatever its value: that it is there is what counts. */
  readonly perReplica: Setting | undefined;
  /** Every other setting, as it is written. */
  readonly settings: ReadonlyMap<string, Setting>;
}

/** A setting and where it stands, as errors name it. */
export interface Setting {
  readonly value: string;
  readonly place: string;
}

/** What is asked more often costs more than it tells. */
const MIN_INTERVAL_MS = 1_000;
const MAX_INTERVAL_MS = 86_400_000;
/** A setting is a query at most. */
const MAX_LENGTH = 64 * 1024;

/**
 * Makes the configuration of one collector of its settings.
 *
 * @throws an Error that names the place of a setting that cannot be used
 */
export function collectorConfig(
  { type, metric, collector }: Pick<CollectorConfig, 'type' | 'metric' | 'collector'>,
  given: ReadonlyMap<string, Setting>,
): CollectorConfig {
  const settings = new Map(given);
  for (const { value, place } of settings.values())
    if (value.length > MAX_LENGTH)
      throw new Error(`${place} must be no longer than ${MAX_LENGTH} characters`);
  const interval = settings.get('interval');
  const perReplica = settings.get('per-replica');
  settings.delete('per-replica');
  settings.delete('interval');
  const intervalMs = interval && intervalOf(interval);
  return { type, metric, collector, perReplica, settings, ...(intervalMs ? { intervalMs } : {}) };
}

/** @returns 0 for the default */
function intervalOf({ value, place }: Setting): number {
  const intervalMs = parseDurationMs(value);
  if (intervalMs === 0) return 0;
  if (intervalMs === undefined || intervalMs < MIN_INTERVAL_MS || intervalMs > MAX_INTERVAL_MS) {
    const range = `${formatDuration(MIN_INTERVAL_MS)} to ${formatDuration(MAX_INTERVAL_MS)}`;
    throw new Error(
      `${place} must be a duration of ${range}, as in 30s, not ${JSON.stringify(value.slice(0, 50))}`,
    );
  }
  return intervalMs;
}
