import { parseArgs } from 'node:util';
import type { BackgroundLoad } from './background/background-load.ts';
import { BACKGROUND_LOADS } from './background/measure-background-loads.ts';
import { chosen, commandOf, countOf, secondsOf } from './flag-values.ts';
import { HPAS_SCENARIOS, type HpasScenario } from './hpa/hpas-scenarios.ts';
import {
  type BenchmarkScenario,
  DEFAULT_SCENARIOS,
  describeScenario,
  FORMATS,
  type Format,
  REQUEST_KINDS,
  type RequestKind,
  SCENARIOS,
} from './scenarios.ts';

/** Parsed command line of `make bench`. */
export interface CommandLine {
  readonly help: boolean;
  readonly json: boolean;
  readonly scenarios: readonly BenchmarkScenario[];
  /** Whether to measure parsing the most expensive untrusted inputs. */
  readonly foreignText: boolean;
  /** Whether to measure controllers of the autoscaler. */
  readonly controllers: boolean;
  /** Whether to measure collecting and serving metrics for HPAs. */
  readonly metricsAdapter: boolean;
  /** HPA scenarios to measure. */
  readonly hpas: readonly HpasScenario[];
  /** Whether to measure polling for ScaledObjects. */
  readonly scaledObjects: boolean;
  readonly measure: {
    readonly kubeletPsi: boolean;
    readonly settleMs: number;
    readonly scrapeMs: number;
    readonly bareScraper: boolean;
    readonly beside: readonly (readonly [string, ...string[]])[];
    readonly endpoint: Endpoint | undefined;
    readonly kinds: readonly RequestKind[];
    readonly formats: readonly Format[];
    readonly roundMs: number;
    readonly rounds: number;
    readonly baseline: boolean;
    readonly firsts: number;
    readonly loads: readonly BackgroundLoad[];
    readonly loadMs: number;
  };
  /** Command line, without flags, of a server to compare with. */
  readonly against: readonly [string, ...string[]] | undefined;
  readonly turns: number;
}

/** Names that are not scenarios of resource metrics. */
const FOREIGN_TEXT = 'foreign-text';
const CONTROLLERS = 'controllers';
const METRICS_ADAPTER = 'metrics-adapter';
/** Selects all scenarios with this prefix. */
const HPAS = 'hpa';
const SCALED_OBJECTS = 'scaled-objects';
const NO_SCENARIOS = [
  ...[FOREIGN_TEXT, CONTROLLERS, METRICS_ADAPTER, HPAS, SCALED_OBJECTS],
  ...HPAS_SCENARIOS.map(({ name }) => name),
];

const ENDPOINTS = ['summary', 'resource'] as const;
type Endpoint = (typeof ENDPOINTS)[number];

const REQUEST_NAMES = REQUEST_KINDS.map(({ key }) => key);
const LOAD_NAMES = BACKGROUND_LOADS.map(({ name }) => name);

/** The help text. */
export const USAGE = `Usage: make bench ARGS='[SCENARIO…] [FLAG…]'

Scenarios (by default ${DEFAULT_SCENARIOS.join(', ')} and ${FOREIGN_TEXT}):
${SCENARIOS.map((scenario) => `  ${scenario.name.padEnd(8)}${describeScenario(scenario)}`).join('\n')}
  ${FOREIGN_TEXT}
          parse the most expensive untrusted inputs at their size limits
  ${CONTROLLERS}
          10,000 CronHorizontalPodAutoscalers reconciled by an autoscaler, with 100 changes per second
  ${METRICS_ADAPTER}
          1,000 HPAs with two External metrics and one of 3 pods each, collected every 15 s and requested
  ${HPAS}
          HorizontalPodAutoscalers decided by an autoscaler, 2 to 3 minutes each:
${HPAS_SCENARIOS.map(({ name, what }) => `          ${name.padEnd(13)}${what}`).join('\n')}
  ${SCALED_OBJECTS}
          2,000 ScaledObjects with two triggers each, polled every 30 s by an autoscaler

Flags (defaults in parentheses):
  --without-psi       simulate kubelets before Kubernetes 1.34, without pressure and IO
  --settle-seconds N  idle time before measuring (20)
  --scrape-seconds N  time to measure scraping without requests (30)
  --endpoint NAME     kubelet endpoint that the server scrapes: ${ENDPOINTS.join(' or ')}; by default the server's own choice
  --bare-scraper      also measure a bare program that scrapes and discards the responses
  --beside CMD        also measure another server that scrapes at the same time; requests alternate between the servers.
                      CMD is its command line without flags, and may begin with env NAME=VALUE; may be repeated
  --scrape-only       measure scraping alone, without requests and background loads
  --requests LIST     requests to measure: ${REQUEST_NAMES.join(',')} (all)
  --formats LIST      response formats to measure: ${FORMATS.join(',')} (all)
  --round-seconds N   duration of a round of requests (0.5)
  --rounds N          number of rounds of each kind of request; 0 for none (3)
  --without-baseline  do not measure the baseline: bare koa with the same responses, in rounds that alternate with the
                      server's; --against implies it
  --firsts N          number of first requests after a cycle to measure, for each kind and format; 0 for none (1)
  --loads LIST        background loads during scraping: ${LOAD_NAMES.join(',')}, or none (all)
${BACKGROUND_LOADS.map(({ name, what }) => `                        ${name.padEnd(6)}${what}`).join('\n')}
  --load-seconds N    duration of each background load (30)
  --against CMD       compare with another server, by its command line without flags; runs alternate, and ratios are printed
  --turns N           number of runs of each of the two servers (2)
  --json              print one JSON document instead of tables
  --help              print this text`;

/** @throws Error in one line with the flag, the value and the rule */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      'without-psi': { type: 'boolean', default: false },
      'settle-seconds': { type: 'string', default: '20' },
      'scrape-seconds': { type: 'string', default: '30' },
      endpoint: { type: 'string' },
      'bare-scraper': { type: 'boolean', default: false },
      beside: { type: 'string', multiple: true, default: [] },
      'scrape-only': { type: 'boolean', default: false },
      requests: { type: 'string', default: REQUEST_NAMES.join(',') },
      formats: { type: 'string', default: FORMATS.join(',') },
      'round-seconds': { type: 'string', default: '0.5' },
      rounds: { type: 'string', default: '3' },
      'without-baseline': { type: 'boolean', default: false },
      firsts: { type: 'string', default: '1' },
      loads: { type: 'string', default: LOAD_NAMES.join(',') },
      'load-seconds': { type: 'string', default: '30' },
      against: { type: 'string' },
      turns: { type: 'string', default: '2' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const chosenOnes = positionals.length > 0 ? positionals : [...DEFAULT_SCENARIOS, FOREIGN_TEXT];
  const chosenKinds = chosen('requests', values.requests, REQUEST_NAMES);
  const chosenLoads = values.loads === 'none' ? [] : chosen('loads', values.loads, LOAD_NAMES);
  return {
    help: values.help,
    json: values.json,
    scenarios: chosenOnes.filter((name) => !NO_SCENARIOS.includes(name)).map(scenarioOf),
    foreignText: chosenOnes.includes(FOREIGN_TEXT),
    controllers: chosenOnes.includes(CONTROLLERS),
    metricsAdapter: chosenOnes.includes(METRICS_ADAPTER),
    hpas: HPAS_SCENARIOS.filter(({ name }) => chosenOnes.includes(HPAS) || chosenOnes.includes(name)),
    scaledObjects: chosenOnes.includes(SCALED_OBJECTS),
    measure: {
      kubeletPsi: !values['without-psi'],
      settleMs: secondsOf('settle-seconds', values['settle-seconds'], 'any') * 1000,
      scrapeMs: secondsOf('scrape-seconds', values['scrape-seconds']) * 1000,
      bareScraper: values['bare-scraper'],
      beside: values.beside.map((command) => commandOf('beside', command)),
      endpoint: values.endpoint === undefined ? undefined : endpointOf(values.endpoint),
      kinds: values['scrape-only'] ? [] : REQUEST_KINDS.filter(({ key }) => chosenKinds.includes(key)),
      formats: chosen('formats', values.formats, FORMATS),
      roundMs: secondsOf('round-seconds', values['round-seconds']) * 1000,
      rounds: countOf('rounds', values.rounds, 0),
      baseline: !values['without-baseline'] && values.against === undefined,
      firsts: countOf('firsts', values.firsts, 0),
      loads: values['scrape-only'] ? [] : BACKGROUND_LOADS.filter(({ name }) => chosenLoads.includes(name)),
      loadMs: secondsOf('load-seconds', values['load-seconds']) * 1000,
    },
    against: values.against === undefined ? undefined : commandOf('against', values.against),
    turns: countOf('turns', values.turns, 1),
  };
}

function endpointOf(text: string): Endpoint {
  const endpoint = ENDPOINTS.find((one) => one === text);
  if (!endpoint) throw new Error(`Cannot use --endpoint=${text}: must be one of ${ENDPOINTS.join(',')}`);
  return endpoint;
}

function scenarioOf(expected: string): BenchmarkScenario {
  const scenario = SCENARIOS.find(({ name }) => name === expected);
  if (scenario === undefined) throw new Error(`Cannot run scenario "${expected}": not found`);
  return scenario;
}
