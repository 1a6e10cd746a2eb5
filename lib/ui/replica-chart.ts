import type { Html } from './html.ts';
import { type ChartPoint, type TimeChart, timeChart } from './time-chart.ts';

/** The size of the charts of a page. */
export const CHART_SIZE = { width: 600, height: 260 };

interface ReplicaChart extends DrawnReplicas {
  /** `undefined` draws no bounds. */
  readonly minReplicas: number | undefined;
}

/** Renders replicas, and what metrics proposed if that is given, with the bounds. */
export function replicaChart(
  { replicas, proposed, minReplicas, maxReplicas }: ReplicaChart,
  axes: Pick<TimeChart, 'fromMs' | 'untilMs'>,
): Html {
  return timeChart({
    ...{ ...axes, ...CHART_SIZE, timeText: clockTime, title: 'Replicas' },
    lines: [
      { className: 'replicas', label: 'replicas', points: replicas, isStepped: true },
      ...(proposed
        ? [{ className: 'proposed', label: 'proposed by metrics', points: proposed, isStepped: true }]
        : []),
    ],
    bounds: minReplicas === undefined ? [] : [{ value: minReplicas }, { value: maxReplicas }],
    boundsLabel: `bounds ${minReplicas} to ${maxReplicas}`,
    highest: highestReplicas({ replicas, proposed, maxReplicas }),
    isWhole: true,
    valueText: String,
  });
}

/** The top of the axis: a bound that nothing approaches, or one far proposal, would flatten the chart. */
export function highestReplicas({ replicas, proposed = [], maxReplicas }: DrawnReplicas): number {
  let max = 1;
  for (const { value = 0 } of replicas) max = Math.max(max, value);
  for (const { value = 0 } of proposed) max = Math.max(max, Math.min(value, 2 * maxReplicas));
  return maxReplicas <= 2 * max ? Math.max(max, maxReplicas) : max;
}

interface DrawnReplicas {
  readonly replicas: readonly ChartPoint[];
  readonly proposed?: readonly ChartPoint[] | undefined;
  readonly maxReplicas: number;
}

/** The time of day in UTC, with seconds unless they are 0. */
export function clockTime(atMs: number): string {
  const time = new Date(atMs).toISOString();
  return time.slice(17, 19) === '00' ? time.slice(11, 16) : time.slice(11, 19);
}
