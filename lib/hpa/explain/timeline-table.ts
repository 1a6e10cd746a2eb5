import { formatDuration } from '#lib/time/duration.ts';
import type { PlayedDecision } from './play.ts';

/** Writes decisions as a table: one row a minute, and one for every change of the scale or of what it comes from. */
export function timelineTable(decisions: Iterable<PlayedDecision>): string {
  const rows: string[][] = [];
  let before = '';
  for (const decision of decisions) {
    const why = whyOf(decision);
    const isScaled = decision.replicasAfter !== decision.replicasBefore;
    const isTold = decision.atMs % 60_000 === 0 || isScaled || why !== before;
    before = why;
    if (isTold) rows.push(rowOf(decision, why));
  }
  return aligned([['time', 'load', 'ready', 'metrics ask for', 'replicas', 'why'], ...rows]);
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

/** The reasons that say what the decision came from. */
function whyOf({ outcome }: PlayedDecision): string {
  const { explanation } = outcome;
  const { step, stabilization, limit, metrics } = explanation;
  if (step !== 'metrics') return step;
  const reasons = [
    stabilization?.heldBy ? stabilization.reason : undefined,
    limit && limit.replicas !== stabilization?.replicas ? limit.reason : undefined,
    ...metrics.flatMap(({ failure }) => failure?.reason),
  ].filter((reason) => reason !== undefined);
  if (reasons.length > 0) return [...new Set(reasons)].join(', ');
  const why = metrics[explanation.leadingMetric ?? 0]?.proposal?.why;
  return why === undefined || why === 'off-target' ? 'as the metrics ask' : why;
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
