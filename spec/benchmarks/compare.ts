import type { BackgroundLoadResult } from './background/measure-background-loads.ts';
import type { FirstRequestResult } from './measure-first-requests.ts';
import type { RequestResult } from './measure-requests.ts';
import { median } from './quantile.ts';
import type { ScenarioResult } from './run-scenario.ts';

type Figure = readonly [what: string, unit: string, pick: (result: ScenarioResult) => number];

/** A measurement of two servers, with the ratio of our server to the other. */
export interface Comparison {
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  readonly other: number;
  readonly ratio: number;
}

/** Compares two servers by the medians of alternating runs of the same scenario. */
export function compare(ours: readonly ScenarioResult[], other: readonly ScenarioResult[]): Comparison[] {
  const figures: Figure[] = [
    ['start to ready', 's', ({ startToReadyMs }) => startToReadyMs / 1000],
    ['CPU while scraping', 'millicores', ({ scraping }) => scraping.cpuMillicores],
    ['resident while scraping', 'MiB', ({ scraping }) => scraping.residentBytes / 2 ** 20],
    ['peak resident', 'MiB', ({ peakResidentBytes }) => peakResidentBytes / 2 ** 20],
    ...(ours[0]?.requests ?? []).flatMap(requestFigures),
    ...(ours[0]?.firstRequests ?? []).flatMap(firstRequestFigures),
    ...(ours[0]?.loads ?? []).flatMap(loadFigures),
  ];
  return figures.map(([what, unit, pick]) => {
    const [a, b] = [median(ours.map(pick)), median(other.map(pick))];
    return { what, unit, ours: a, other: b, ratio: a / b };
  });
}

function requestFigures(request: RequestResult, index: number): Figure[] {
  const { kind, format, gzip, protocol } = request;
  const what = `${kind.name}, ${format}${gzip ? ', gzip' : ''}, ${protocol}`;
  const of = (pick: (round: RequestResult['rounds'][number]) => number) => (result: ScenarioResult) =>
    median((result.requests[index]?.rounds ?? []).map(pick));
  return [
    [what, 'requests/s', of(({ requestsPerSecond }) => requestsPerSecond)],
    [what, 'median ms', of(({ medianMs }) => medianMs)],
  ];
}

function firstRequestFigures({ kind, format }: FirstRequestResult, index: number): Figure[] {
  const of = (pick: (first: FirstRequestResult) => readonly number[]) => (result: ScenarioResult) => {
    const first = result.firstRequests[index];
    return median(first ? pick(first) : []);
  };
  const what = `${kind.name}, ${format}, gzip`;
  return [
    [`first after a cycle: ${what}`, 'ms', of(({ firstMs }) => firstMs)],
    [`the same, asked the cycle before: ${what}`, 'ms', of(({ expectedMs }) => expectedMs)],
  ];
}

function loadFigures({ what, medianMs }: BackgroundLoadResult, index: number): Figure[] {
  const of = (pick: (load: BackgroundLoadResult) => number) => (result: ScenarioResult) => {
    const load = result.loads[index];
    return load ? pick(load) : Number.NaN;
  };
  const cost: Figure[] = [
    [what, 'millicores', of(({ cpuMillicores }) => cpuMillicores)],
    [what, 'resident MiB', of(({ residentBytes }) => residentBytes / 2 ** 20)],
  ];
  if (medianMs === null) return cost; // requests go to the API server, not to the compared servers
  return [
    ...cost,
    [what, 'median ms', of((load) => load.medianMs ?? Number.NaN)],
    [what, 'p99 ms', of((load) => load.p99Ms ?? Number.NaN)],
  ];
}
