import { formatDuration } from '#lib/time/duration.ts';
import type { PlayedDecision } from './play-scenario.ts';

const [WIDTH, HEIGHT] = [960, 360];
const PLOT = { left: 56, right: 928, top: 40, bottom: 320 };

/** Draws decisions: the replicas, what the metrics ask for, and the bounds, over time; for light and dark pages. */
export function timelineSvg(
  decisions: readonly PlayedDecision[],
  { title, minReplicas, maxReplicas }: TimelineOptions,
): string {
  const lastMs = Math.max(decisions.at(-1)?.atMs ?? 0, 1);
  const most = highest(decisions, maxReplicas);
  const scale: Scale = {
    x: (atMs) => PLOT.left + ((PLOT.right - PLOT.left) * atMs) / lastMs,
    y: (replicas) => PLOT.bottom - ((PLOT.bottom - PLOT.top) * Math.min(Math.max(replicas, 0), most)) / most,
  };
  const replicas = decisions.map(({ atMs, replicasAfter }) => ({ atMs, replicas: replicasAfter }));
  const proposals = decisions.map(({ atMs, outcome }) => ({
    atMs,
    replicas: outcome.explanation.proposedReplicas,
  }));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">`,
    STYLE,
    `<rect class="page" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="title" x="${PLOT.left}" y="24">${escaped(title)}</text>`,
    ...ticks(most).map((value) => horizontal('grid', value, `${value}`, scale)),
    ...multiples(TIME_STEPS, lastMs).map(
      (atMs) =>
        `<text x="${fixed(scale.x(atMs))}" y="${PLOT.bottom + 20}" text-anchor="middle">${timeText(atMs)}</text>`,
    ),
    ...[minReplicas, maxReplicas]
      .filter((bound) => bound <= most)
      .map((bound) => horizontal('bound', bound, '', scale)),
    `<path class="asked" d="${steps(proposals, scale)}"/>`,
    `<path class="replicas" d="${steps(replicas, scale)}"/>`,
    `<text class="legend" x="${PLOT.right}" y="24" text-anchor="end"><tspan class="is-replicas">replicas</tspan> · <tspan class="is-asked">what metrics ask for</tspan> · <tspan class="is-bound">bounds</tspan></text>`,
    '</svg>',
  ].join('\n');
}

export interface TimelineOptions {
  readonly title: string;
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

interface Scale {
  x(atMs: number): number;
  y(replicas: number): number;
}

const STYLE = `<style>
text { font: 12px system-ui, sans-serif; fill: #57606a } .title { font-size: 14px; fill: #1f2328 }
.page { fill: #fff } .grid { stroke: #d8dee4 } .bound { stroke: #8c959f; stroke-dasharray: 2 4 }
path { fill: none; stroke-width: 2 } .replicas { stroke: #0969da } .asked { stroke: #bc4c00; stroke-dasharray: 4 3 }
.is-replicas { fill: #0969da } .is-asked { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 } .title { fill: #f0f6fc } .page { fill: #0d1117 } .grid { stroke: #30363d } .bound { stroke: #656c76 }
.replicas { stroke: #58a6ff } .asked { stroke: #ffa657 } .is-replicas { fill: #58a6ff } .is-asked { fill: #ffa657 }
}
</style>`;

/** A bound that nothing comes near would flatten the rest, and so would a single proposal far beyond it. */
function highest(decisions: readonly PlayedDecision[], maxReplicas: number): number {
  let most = 1;
  for (const { replicasAfter, outcome } of decisions) {
    const asked = outcome.explanation.proposedReplicas ?? 0;
    most = Math.max(most, replicasAfter, Math.min(asked, 2 * maxReplicas));
  }
  return maxReplicas <= 2 * most ? Math.max(most, maxReplicas) : most;
}

/** At most six round numbers up to the highest. */
function ticks(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(most / 5, 1)));
  return multiples([power, 2 * power, 5 * power, 10 * power], most);
}

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
const TIME_STEPS = [
  ...[1, 5, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12, 24].map((hours) => hours * HOUR),
];

/** The multiples, up to the highest, of the first step that makes few of them. */
function multiples(sizes: readonly number[], most: number): number[] {
  const step = sizes.find((size) => size >= most / 5) ?? most / 5;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, place) => place * step);
}

/** A round time as people write it: `5m` in place of `5m0s`. */
function timeText(atMs: number): string {
  return formatDuration(Math.round(atMs / 1000) * 1000)
    .replace(/([hm])0s$/, '$1')
    .replace(/h0m$/, 'h');
}

function horizontal(name: string, value: number, label: string, { y }: Scale): string {
  const height = fixed(y(value));
  const line = `<line class="${name}" x1="${PLOT.left}" x2="${PLOT.right}" y1="${height}" y2="${height}"/>`;
  return label === ''
    ? line
    : `${line}<text x="${PLOT.left - 8}" y="${height}" dy="4" text-anchor="end">${label}</text>`;
}

/** A line that holds each value until the next; a gap where there is none. */
function steps(
  points: readonly { readonly atMs: number; readonly replicas: number | undefined }[],
  { x, y }: Scale,
): string {
  const parts: string[] = [];
  let before: number | undefined;
  for (const { atMs, replicas } of points) {
    if (before !== undefined) parts.push(`H${fixed(x(atMs))}`);
    if (replicas !== undefined && replicas !== before) {
      parts.push(
        before === undefined ? `M${fixed(x(atMs))} ${fixed(y(replicas))}` : `V${fixed(y(replicas))}`,
      );
    }
    before = replicas;
  }
  return parts.join('');
}

function fixed(value: number): string {
  return `${Math.round(value * 10) / 10}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
