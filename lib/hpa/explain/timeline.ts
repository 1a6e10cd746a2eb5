import { formatDuration } from '#lib/time/duration.ts';
import { html } from '#lib/ui/html.ts';
import { highestReplicas } from '#lib/ui/replica-chart.ts';
import { timeChart } from '#lib/ui/time-chart.ts';
import type { PlayedDecision } from './play.ts';

interface TimelineOptions {
  readonly title: string;
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

/** Draws replicas, proposals and bounds over time as SVG, for light and dark pages. */
export function timelineSvg(
  decisions: readonly PlayedDecision[],
  { title, minReplicas, maxReplicas }: TimelineOptions,
): string {
  const proposed = decisions.map(({ atMs, outcome }) => ({
    atMs,
    value: outcome.explanation.proposedReplicas,
  }));
  const replicas = decisions.map(({ atMs, replicasAfter }) => ({ atMs, value: replicasAfter }));
  return timeChart({
    title,
    width: 960,
    height: 360,
    style: STYLE,
    lines: [
      { className: 'replicas', label: 'replicas', points: replicas, isStepped: true },
      { className: 'proposed', label: 'proposed by metrics', points: proposed, isStepped: true },
    ],
    bounds: [{ value: minReplicas }, { value: maxReplicas }],
    boundsLabel: 'bounds',
    fromMs: 0,
    untilMs: Math.max(decisions.at(-1)?.atMs ?? 0, 1),
    highest: highestReplicas({ replicas, proposed, maxReplicas }),
    isWhole: true,
    timeText,
    valueText: String,
  }).toString();
}

const STYLE = html`<style>
:root { color-scheme: light dark }
text { font: 12px system-ui, sans-serif; fill: #57606a } .title { font-size: 14px; fill: #1f2328 }
.page { fill: #fff } .grid { stroke: #d8dee4 } .bound { stroke: #8c959f; stroke-dasharray: 2 4 }
path { fill: none; stroke-width: 2; stroke-linecap: round } .replicas { stroke: #0969da } .proposed { stroke: #bc4c00; stroke-dasharray: 2 6 }
.is-replicas { fill: #0969da } .is-proposed { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 } .title { fill: #f0f6fc } .page { fill: #0d1117 } .grid { stroke: #30363d } .bound { stroke: #656c76 }
.replicas { stroke: #58a6ff } .proposed { stroke: #ffa657 } .is-replicas { fill: #58a6ff } .is-proposed { fill: #ffa657 }
}
</style>
`;

/** A time such as `5m` instead of `5m0s`. */
function timeText(atMs: number): string {
  return formatDuration(Math.round(atMs / 1000) * 1000)
    .replace(/([hm])0s$/, '$1')
    .replace(/h0m$/, 'h');
}

/** Formats decisions as a table: a row per minute and for each change of the scale or its cause. */
export function timelineTable(decisions: Iterable<PlayedDecision>): string {
  const rows: string[][] = [];
  let before = '';
  for (const decision of decisions) {
    const why = describeReasons(decision);
    const isScaled = decision.replicasAfter !== decision.replicasBefore;
    const isListed = decision.atMs % 60_000 === 0 || isScaled || why !== before;
    before = why;
    if (isListed) rows.push(rowOf(decision, why));
  }
  return aligned([['time', 'load', 'ready', 'proposed', 'replicas', 'why'], ...rows]);
}

function rowOf(
  { atMs, load, readyPods, replicasBefore, replicasAfter, outcome }: PlayedDecision,
  why: string,
): string[] {
  const proposals = outcome.explanation.metrics.map(({ proposal }) => `${proposal?.replicas ?? '?'}`);
  return [
    formatDuration(atMs),
    Object.entries(load)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    `${readyPods}/${replicasBefore}`,
    proposals.join(', '),
    replicasAfter === replicasBefore ? `${replicasAfter}` : `${replicasBefore} → ${replicasAfter}`,
    why,
  ];
}

/** The reasons of the step that decided. */
function describeReasons({ outcome }: PlayedDecision): string {
  const { explanation } = outcome;
  const { step, stabilization, limit, metrics } = explanation;
  if (step !== 'metrics') return step;
  const reasons = [
    stabilization?.stabilizedBy ? stabilization.reason : undefined,
    limit && limit.replicas !== stabilization?.replicas ? limit.reason : undefined,
    ...metrics.flatMap(({ failure }) => failure?.reason),
  ].filter((reason) => reason !== undefined);
  if (reasons.length > 0) return [...new Set(reasons)].join(', ');
  const why = metrics[explanation.leadingMetric ?? 0]?.proposal?.why;
  return why === undefined || why === 'off-target' ? 'as proposed' : why;
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
