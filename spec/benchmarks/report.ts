import type { Comparison } from './compare.ts';
import { quantile } from './load/generate-load.ts';
import type { RequestResult } from './measure-requests.ts';
import type { ScenarioResult } from './run-scenario.ts';

/** What a scenario has cost, as Markdown: medians of the rounds, and the range of requests a second in brackets. */
export function reportScenario({
  scenario,
  startToReadyMs,
  scraping,
  peakResidentBytes,
  requests,
}: ScenarioResult): string {
  const { name, nodes, podsPerNode, containersPerPod } = scenario;
  return [
    `## ${name}: ${nodes} nodes × ${podsPerNode} pods × ${containersPerPod} containers`,
    '',
    ...table([
      ['start to ready', 'CPU while scraping', 'resident while scraping', 'peak resident'],
      [
        `${(startToReadyMs / 1000).toFixed(1)} s`,
        `${scraping.cpuMillicores.toFixed(1)} millicores`,
        mebibytes(scraping.residentBytes),
        mebibytes(peakResidentBytes),
      ],
    ]),
    '',
    ...table([
      [
        'request',
        'clients',
        'format',
        'over',
        'body',
        'requests/s',
        'median ms',
        'p99 ms',
        'first ms',
        'server CPU ms',
      ],
      ...requests.map(reportRequest),
    ]),
  ].join('\n');
}

function reportRequest({ kind, format, gzip, protocol, rounds }: RequestResult): string[] {
  const ascending = (pick: (round: (typeof rounds)[number]) => number) =>
    rounds.map(pick).sort((a, b) => a - b);
  const median = (pick: Parameters<typeof ascending>[0]) => quantile(ascending(pick), 0.5);
  const perSecond = ascending((round) => round.requestsPerSecond);
  const [least, most] = [quantile(perSecond, 0), quantile(perSecond, 1)];
  return [
    kind.name,
    `${kind.clients}`,
    gzip ? `${format}, gzip` : format,
    protocol,
    `${((rounds[0]?.bodyBytes ?? 0) / 1000).toFixed(1)} kB`,
    `${quantile(perSecond, 0.5).toFixed(0)} [${least.toFixed(0)}–${most.toFixed(0)}]`,
    median((round) => round.medianMs).toFixed(2),
    median((round) => round.p99Ms).toFixed(2),
    median((round) => round.firstMs).toFixed(2),
    median((round) => round.serverCpuMsPerRequest).toFixed(3),
  ];
}

/** How two servers compare, as Markdown. */
export function reportComparison(comparisons: readonly Comparison[]): string {
  return table([
    ['what', 'unit', 'ours', 'other', 'ours / other'],
    ...comparisons.map(({ what, unit, ours, other, ratio }) => [
      what,
      unit,
      ours.toFixed(1),
      other.toFixed(1),
      ratio.toFixed(2),
    ]),
  ]).join('\n');
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

/** A Markdown table with aligned columns; the first row is its head. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0] ?? '', rule, ...lines.slice(1)];
}
