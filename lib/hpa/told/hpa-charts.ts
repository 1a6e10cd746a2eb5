import { type Html, html } from '#lib/ui/html.ts';
import { type ChartLine, type TimeChart, timeChart } from '#lib/ui/time-chart.ts';
import { highestReplicas } from '../explain/timeline.ts';
import type { HpaDecisions } from '../observability/decision-log.ts';

/** More lines nobody can tell from one another. */
const MOST_LINES = 6;
/** A metric far beyond its target is drawn at the upper edge, or the others would all lie at the lower. */
const MOST_PERCENT = 1000;
const SIZE = { width: 600, height: 260 };

/** Draws the latest decisions of an HPA: its replicas, and its metrics against their targets. */
export function hpaCharts(hpa: HpaDecisions): readonly Html[] {
  const { decisions, explanation } = hpa;
  const [first, last] = [decisions.at(0), decisions.at(-1)];
  if (!first || !last || decisions.length < 2)
    return [html`<p class="hint">A drawing takes two decisions.</p>`];
  const axes = { fromMs: first.atMs, untilMs: last.atMs, timeText: clockTime, ...SIZE };
  const { minReplicas, maxReplicas = 1 } = explanation ?? {};
  const asked = decisions.map(({ atMs, proposedReplicas }) => ({ atMs, value: proposedReplicas }));
  const replicas = decisions.map(({ atMs, currentReplicas }) => ({ atMs, value: currentReplicas }));
  const loads = loadLines(hpa);
  return [
    timeChart({
      ...axes,
      title: 'Replicas',
      lines: [
        { className: 'replicas', label: 'replicas', points: replicas, isStepped: true },
        { className: 'asked', label: 'what metrics ask for', points: asked, isStepped: true },
      ],
      bounds: minReplicas === undefined ? [] : [{ value: minReplicas }, { value: maxReplicas }],
      boundsLabel: `bounds ${minReplicas} to ${maxReplicas}`,
      highest: highestReplicas({ replicas, asked, maxReplicas }),
      isWhole: true,
      valueText: String,
    }),
    ...(loads.length > 0 ? [timeChart({ ...axes, ...loadChart(loads) })] : []),
  ];
}

/** Against their targets, metrics of all units have one axis, and what leads is what is highest. */
function loadChart(
  lines: readonly ChartLine[],
): Pick<TimeChart, 'title' | 'lines' | 'bounds' | 'boundsLabel' | 'highest' | 'isWhole' | 'valueText'> {
  const values = lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  const highest = Math.min(Math.max(150, ...values), MOST_PERCENT);
  return {
    title: 'Metrics, in % of their targets',
    ...{ lines, highest, isWhole: true, bounds: [{ value: 100 }], boundsLabel: 'target' },
    valueText: (value) => `${value}%`,
  };
}

function loadLines({ decisions, loads }: HpaDecisions): readonly ChartLine[] {
  return (loads?.metrics ?? []).slice(0, MOST_LINES).map((metric, place) => {
    const label = metric.replace(/\(.*$/s, ''); // its selector would be longer than the drawing is wide
    const ratios = loads?.ratiosOf(place) ?? [];
    const drawn = decisions.slice(decisions.length - ratios.length);
    const points = drawn.map(({ atMs }, index) => {
      const ratio = ratios[index];
      return { atMs, value: ratio === undefined ? undefined : ratio * 100 };
    });
    return { className: `load-${place}`, label, points };
  });
}

/** The wall clock in UTC; seconds only where they are. */
function clockTime(atMs: number): string {
  const time = new Date(atMs).toISOString();
  return time.slice(17, 19) === '00' ? time.slice(11, 16) : time.slice(11, 19);
}
