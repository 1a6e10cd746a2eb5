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

/** What `make bench` was told. */
export interface CommandLine {
  readonly help: boolean;
  readonly json: boolean;
  readonly scenarios: readonly BenchmarkScenario[];
  /** Whether to measure what the worst texts of others cost. */
  readonly foreignText: boolean;
  /** Whether to measure what controllers of the autoscaler cost. */
  readonly controllers: boolean;
  /** Whether to measure what collecting and serving metrics for HPAs costs. */
  readonly metricsAdapter: boolean;
  /** With which HPAs to measure what deciding them costs. */
  readonly hpas: readonly HpasScenario[];
  /** Whether to measure what polling for ScaledObjects costs. */
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
  /** The command line, up to its flags, of a server to compare with. */
  readonly against: readonly [string, ...string[]] | undefined;
  readonly turns: number;
}

/** Stand among the scenarios. */
const FOREIGN_TEXT = 'foreign-text';
const CONTROLLERS = 'controllers';
const METRICS_ADAPTER = 'metrics-adapter';
/** All of those whose names begin with it. */
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

Scenarios (${DEFAULT_SCENARIOS.join(', ')} and ${FOREIGN_TEXT} unless told otherwise):
${SCENARIOS.map((scenario) => `  ${scenario.name.padEnd(8)}${describeScenario(scenario)}`).join('\n')}
  ${FOREIGN_TEXT}
          the worst texts that strangers may send, read at their bounds
  ${CONTROLLERS}
          10,000 CronHorizontalPodAutoscalers, of which 100 a second are changed, followed by an autoscaler
  ${METRICS_ADAPTER}
          1,000 HPAs with two External metrics and one of 3 pods each, collected every 15 s and asked for
  ${HPAS}
          HorizontalPodAutoscalers decided by an autoscaler, 2 to 3 minutes each:
${HPAS_SCENARIOS.map(({ name, what }) => `          ${name.padEnd(13)}${what}`).join('\n')}
  ${SCALED_OBJECTS}
          2,000 ScaledObjects with two triggers each, polled every 30 s by an autoscaler

Flags:
  --without-psi       let kubelets respond as those before 1.34 did, without pressure and IO
  --settle-seconds N  how long to leave the server to itself before it is measured (20)
  --scrape-seconds N  how long to watch the server scrape without any request (30)
  --endpoint NAME     what kubelets are to be asked for, of ${ENDPOINTS.join(',')}; a server that has no such flag cannot be told
  --bare-scraper      have a bare program scrape beside the server, and throw away what it gets
  --beside CMD        have another server scrape beside it, by the command line CMD up to its flags, and tell what each took
                      meanwhile; it is asked alternately with the server for what that is asked for in rounds; may be given
                      several times, and CMD may begin with env NAME=VALUE
  --scrape-only       ask nothing, and let nothing else go on
  --requests LIST     what to ask for, of ${REQUEST_NAMES.join(',')} (all)
  --formats LIST      in which formats to ask, of ${FORMATS.join(',')} (all)
  --round-seconds N   how long a round of requests takes (0.5)
  --rounds N          how many rounds each kind of request gets; 0 for none (3)
  --without-baseline  do not ask the baseline, bare koa with the same responses ready-made, alternately with the server;
                      with --against it is never asked
  --firsts N          how many requests of each kind and format to time that are the first after a cycle; 0 for none (1)
  --loads LIST        what to let go on while the server scrapes, of ${LOAD_NAMES.join(',')}, or none (all)
${BACKGROUND_LOADS.map(({ name, what }) => `                        ${name.padEnd(6)}${what}`).join('\n')}
  --load-seconds N    how long each of these goes on (30)
  --against CMD       run another server, too, by the command line CMD up to its flags; alternately, and tell ratios
  --turns N           how often each of the two runs (2)
  --json              print one JSON document instead of tables
  --help              print this text`;

/** @throws Error on one line that names the flag, the value and the rule */
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
  if (!endpoint) throw new Error(`Cannot use --endpoint=${text}: it must be one of ${ENDPOINTS.join(',')}`);
  return endpoint;
}

function scenarioOf(wanted: string): BenchmarkScenario {
  const scenario = SCENARIOS.find(({ name }) => name === wanted);
  if (scenario === undefined) throw new Error(`Cannot run scenario "${wanted}": there is none of that name`);
  return scenario;
}
