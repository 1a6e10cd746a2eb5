import { LabelledHistograms } from '#lib/telemetry/sliced-registry.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Of names that users give; more are counted together. */
const MOST_SCALERS = 1000;
const OTHERS = 'others';
/** A name that had no request for so long makes place for another: its objects are likely gone. */
const IDLE_MS = 3_600_000;

/** How long HTTP requests of triggers take, under the name and labels that dashboards know. */
export function requestDurations(clock: Clock) {
  const usedAtMs = new Map<string, number>(); // the longest unused first
  const histograms = new LabelledHistograms({
    name: 'keda_scaler_http_request_duration_seconds',
    help: 'How long HTTP requests of triggers took',
    label: ['scaler', 'status_code'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const hasPlace = (scaler: string, nowMs: number) => {
    if (usedAtMs.size < MOST_SCALERS || usedAtMs.has(scaler)) return true;
    const [oldest] = usedAtMs;
    if (!oldest || nowMs - oldest[1] < IDLE_MS) return false;
    usedAtMs.delete(oldest[0]);
    histograms.retain((key) => key.slice(0, key.lastIndexOf('\n')) !== oldest[0]); // name, status
    return true;
  };
  return {
    series: histograms,
    observe(scaler: string, status: string, durationMs: number): void {
      const nowMs = clock.monotonicMs();
      const isNamed = hasPlace(scaler, nowMs);
      if (isNamed) {
        usedAtMs.delete(scaler); // to the end
        usedAtMs.set(scaler, nowMs);
      }
      histograms.observe([isNamed ? scaler : OTHERS, status], durationMs / 1000);
    },
  };
}

export type RequestDurations = ReturnType<typeof requestDurations>;
