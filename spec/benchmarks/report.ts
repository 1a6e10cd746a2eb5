import type { BackgroundLoadResult } from './background/measure-background-loads.ts';
import type { Calibration } from './calibrate.ts';
import type { Comparison } from './compare.ts';
import type { FirstRequestResult } from './measure-first-requests.ts';
import type { RequestResult, RequestRound } from './measure-requests.ts';
import { median, quantile } from './quantile.ts';
import type { ScenarioResult } from './run-scenario.ts';
import { describeScenario } from './scenarios.ts';
import { table } from './table.ts';

/** The machine on which the results were measured. */
export interface Machine extends Calibration {
  readonly node: string;
  readonly cpu: string | undefined;
  readonly cores: number;
}

/** Formats the machine's speed as Markdown, to compare machines. */
export function reportMachine(machine: Machine): string {
  return [
    `Node ${machine.node} on ${machine.cores} × ${machine.cpu}`,
    '',
    `This machine parses ${machine.jsonMegabytesPerSecond.toFixed(0)} MB of JSON and makes ${machine.tlsHandshakesPerSecond.toFixed(0)} TLS handshakes, both ends counted, in a second of CPU.`,
    'Clients of the server keep connections alive; whether the server does so with kubelets is in the tables below.',
    'The baseline is bare koa with the same precomputed responses, in its own process; requests alternate between it and the server.',
  ].join('\n');
}

/**
 * Formats a scenario's result as Markdown: medians of the rounds, and the range of requests per second in parentheses.
 */
export function reportScenario(result: ScenarioResult): string {
  return [
    `## ${result.scenario.name}: ${describeScenario(result.scenario)}, kubelets ${result.kubeletPsi ? 'with' : 'without'} PSI`,
    ...reportScraping(result),
    ...reportRequests(result.requests),
    ...section(BESIDE_REQUEST_HEAD, result.requests.flatMap(reportRequestBeside)),
    ...section(FIRST_REQUEST_HEAD, result.firstRequests.map(reportFirstRequest)),
    ...section(
      LOAD_HEAD,
      result.loads.map((load) => reportLoad(load, result.scraping.cpuMillicores)),
    ),
  ].join('\n');
}

function section(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : ['', ...table([head, ...rows])];
}

function reportScraping({ startToReadyMs, scraping, peakResidentBytes }: ScenarioResult): string[] {
  const { cpuMillicores, residentBytes, bare, beside, endpoints, connections } = scraping;
  const seconds = `${(startToReadyMs / 1000).toFixed(1)} s`;
  const requested = endpoints.map(({ path, bytes }) => `${path}: ${kilobytes(bytes)}`).join(', ');
  return [
    ...section(
      ['start to ready', 'CPU while scraping', 'resident while scraping', 'peak resident'],
      [
        [
          seconds,
          `${cpuMillicores.toFixed(1)} millicores`,
          mebibytes(residentBytes),
          mebibytes(peakResidentBytes),
        ],
      ],
    ),
    ...section(
      ['beside it a bare program took', 'resident', 'the server / it'],
      bare
        ? [
            [
              `${bare.cpuMillicores.toFixed(1)} millicores`,
              mebibytes(bare.residentBytes),
              (cpuMillicores / bare.cpuMillicores).toFixed(2),
            ],
          ]
        : [],
    ),
    ...section(
      ['beside it', 'CPU while scraping', 'resident', 'peak resident', 'CPU: the server / it', 'resident'],
      beside.map((other) => [
        other.command,
        `${other.cpuMillicores.toFixed(1)} millicores`,
        mebibytes(other.residentBytes),
        mebibytes(other.peakResidentBytes),
        (cpuMillicores / other.cpuMillicores).toFixed(2),
        (residentBytes / other.residentBytes).toFixed(2),
      ]),
    ),
    ...section(
      ['requests to kubelets, and responses', 'connections to kubelets'],
      [[requested, `${connections.open} open, ${connections.retained} kept`]],
    ),
  ];
}

/** Includes the baseline if it was measured. */
function reportRequests(requests: readonly RequestResult[]): string[] {
  const hasBaseline = requests.some(({ toBaseline }) => toBaseline !== null);
  return section(
    hasBaseline ? [...REQUEST_HEAD, ...BASELINE_HEAD] : REQUEST_HEAD,
    requests.map((request) =>
      hasBaseline ? [...reportRequest(request), ...reportBaseline(request)] : reportRequest(request),
    ),
  );
}

const REQUEST_HEAD = [
  'request',
  'clients',
  'format',
  'over',
  'body',
  'requests/s',
  'median ms',
  'p99 ms',
  'server CPU ms',
];

function reportRequest({ kind, format, gzip, protocol, rounds }: RequestResult): string[] {
  const of = (pick: (round: RequestRound) => number) => rounds.map(pick);
  return [
    kind.name,
    `${kind.clients}`,
    gzip ? `${format}, gzip` : format,
    protocol,
    kilobytes(rounds[0]?.bodyBytes ?? 0),
    requestsPerSecond(rounds),
    median(of((round) => round.medianMs)).toFixed(2),
    median(of((round) => round.p99Ms)).toFixed(2),
    median(of((round) => round.serverCpuMsPerRequest)).toFixed(3),
  ];
}

const BASELINE_HEAD = ['baseline requests/s', 'server / baseline', 'baseline CPU ms'];

function reportBaseline({ baselineRounds, toBaseline }: RequestResult): string[] {
  return [
    requestsPerSecond(baselineRounds),
    toBaseline?.toFixed(2) ?? '–',
    median(baselineRounds.map((round) => round.serverCpuMsPerRequest)).toFixed(3),
  ];
}

const BESIDE_REQUEST_HEAD = [
  'in alternating rounds',
  ...['request', 'format', 'over', 'requests/s', 'CPU ms'],
  ...['requests/s: the server / it', 'CPU ms'],
];

function reportRequestBeside({ kind, format, gzip, protocol, rounds, beside }: RequestResult): string[][] {
  const perSecond = (of: readonly RequestRound[]) => median(of.map((round) => round.requestsPerSecond));
  const cpuMs = (of: readonly RequestRound[]) => median(of.map((round) => round.serverCpuMsPerRequest));
  return beside.map((other) => [
    other.command,
    kind.name,
    gzip ? `${format}, gzip` : format,
    protocol,
    requestsPerSecond(other.rounds),
    cpuMs(other.rounds).toFixed(3),
    (perSecond(rounds) / perSecond(other.rounds)).toFixed(2),
    (cpuMs(rounds) / cpuMs(other.rounds)).toFixed(2),
  ]);
}

function requestsPerSecond(rounds: readonly RequestRound[]): string {
  const ascending = rounds.map((round) => round.requestsPerSecond).sort((a, b) => a - b);
  const [min, middle, max] = [0, 0.5, 1].map((share) => quantile(ascending, share).toFixed(0));
  return `${middle} [${min}–${max}]`;
}

const FIRST_REQUEST_HEAD = [
  'first request after a cycle',
  'format',
  'over',
  'body',
  'first ms',
  'again ms',
  'asked the cycle before ms',
];

function reportFirstRequest(result: FirstRequestResult): string[] {
  const { kind, format, bodyBytes, firstMs, againMs, expectedMs } = result;
  return [
    kind.name,
    `${format}, gzip`,
    'HTTP/2',
    kilobytes(bodyBytes),
    median(firstMs).toFixed(2),
    median(againMs).toFixed(2),
    median(expectedMs).toFixed(2),
  ];
}

const LOAD_HEAD = [
  'while scraping and',
  'millicores',
  'above scraping',
  'resident',
  'requests',
  'median ms',
  'p99 ms',
  'probe p99 ms',
  'scrape p99 ms',
];

function reportLoad(load: BackgroundLoadResult, scrapingMillicores: number): string[] {
  const { what, cpuMillicores, residentBytes, requests, medianMs, p99Ms, noticed } = load;
  return [
    what,
    cpuMillicores.toFixed(1),
    (cpuMillicores - scrapingMillicores).toFixed(1),
    mebibytes(residentBytes),
    `${requests}`,
    medianMs?.toFixed(2) ?? '–',
    p99Ms?.toFixed(2) ?? '–',
    noticed.probeP99Ms.toFixed(2),
    noticed.scrapeP99Ms?.toFixed(0) ?? '–',
  ];
}

/** Formats a comparison of two servers as Markdown. */
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

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
