import { quantile } from './load/generate-load.ts';
import type { RequestResult } from './measure-requests.ts';
import type { ScenarioResult } from './run-scenario.ts';

/** One figure of two servers; the ratio is of ours to the other's. */
export interface Comparison {
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  readonly other: number;
  readonly ratio: number;
}

/** Compares two servers by the medians of runs that alternated on the same scenario. */
export function compare(ours: readonly ScenarioResult[], other: readonly ScenarioResult[]): Comparison[] {
  const figures: [string, string, (result: ScenarioResult) => number][] = [
    ['start to ready', 's', ({ startToReadyMs }) => startToReadyMs / 1000],
    ['CPU while scraping', 'millicores', ({ scraping }) => scraping.cpuMillicores],
    ['resident while scraping', 'MiB', ({ scraping }) => scraping.residentBytes / 2 ** 20],
    ['peak resident', 'MiB', ({ peakResidentBytes }) => peakResidentBytes / 2 ** 20],
    ...(ours[0]?.requests ?? []).flatMap(requestFigures),
  ];
  return figures.map(([what, unit, pick]) => {
    const [a, b] = [median(ours.map(pick)), median(other.map(pick))];
    return { what, unit, ours: a, other: b, ratio: a / b };
  });
}

function requestFigures(
  request: RequestResult,
  index: number,
): [string, string, (result: ScenarioResult) => number][] {
  const { kind, format, gzip, protocol } = request;
  const what = `${kind.name}, ${format}${gzip ? ', gzip' : ''}, ${protocol}`;
  const of = (pick: (round: RequestResult['rounds'][number]) => number) => (result: ScenarioResult) =>
    median((result.requests[index]?.rounds ?? []).map(pick));
  return [
    [what, 'requests/s', of(({ requestsPerSecond }) => requestsPerSecond)],
    [what, 'median ms', of(({ medianMs }) => medianMs)],
  ];
}

function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}
