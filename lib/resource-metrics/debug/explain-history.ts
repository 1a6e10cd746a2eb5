import type { NodeRecord } from '#lib/resource-metrics/sink/node-record.ts';
import { SHORTEST_WINDOW_MS } from '#lib/resource-metrics/sink/rate.ts';
import { isStuck, type UsageHistory } from '#lib/resource-metrics/sink/usage-history.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { Reason } from './reason.ts';

/**
 * Why readings do not amount to a usage.
 *
 * @param of what was read, as in `container "app"`
 */
export function explainHistory(
  { readings, context }: UsageHistory,
  { of, record }: { readonly of: string; readonly record: NodeRecord },
): Reason {
  const [oldest, newest] = [readings[0], readings.at(-1)];
  const at = newest === undefined ? 'never' : `at ${new Date(newest.takenAtMs).toISOString()}`;
  if (isStuck({ context }, record)) {
    const forMs = Math.round((record.receivedAtMs - context.receivedAtMs) / 1000) * 1000;
    return {
      code: 'SamplingStopped',
      message: `the kubelet sampled ${of} last ${at} and has given that sample for ${formatDuration(forMs)}`,
    };
  }
  const spanMs = oldest && newest ? newest.takenAtMs - oldest.takenAtMs : 0;
  const held =
    readings.length > 1 ? `its readings lie ${formatDuration(spanMs)} apart` : `it was read once, ${at}`;
  return {
    code: 'WaitingForSecondReading',
    message: `${of} waits for another reading: ${held}, and CPU use takes two that lie ${formatDuration(SHORTEST_WINDOW_MS)} apart`,
  };
}
