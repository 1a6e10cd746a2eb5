import { LabelledHistograms } from '#lib/telemetry/labelled-histograms.ts';

/** Of names that users give; more are counted together. */
const MOST_SCALERS = 1000;
const OTHERS = 'others';

/** How long HTTP requests of triggers take, under the name and labels that dashboards know. */
export function requestDurations() {
  const scalers = new Set<string>();
  const histograms = new LabelledHistograms({
    name: 'keda_scaler_http_request_duration_seconds',
    help: 'How long HTTP requests of triggers took',
    label: ['scaler', 'status_code'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  return {
    series: histograms,
    observe(scaler: string, status: string, durationMs: number): void {
      if (scalers.size < MOST_SCALERS) scalers.add(scaler);
      histograms.observe([scalers.has(scaler) ? scaler : OTHERS, status], durationMs / 1000);
    },
  };
}

export type RequestDurations = ReturnType<typeof requestDurations>;
