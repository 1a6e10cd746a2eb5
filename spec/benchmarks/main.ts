// Measures what the server costs, as one table or one JSON document: make bench ARGS='small --json'.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { reportScenario } from './report.ts';
import { runScenario, type ScenarioResult } from './run-scenario.ts';
import { DEFAULT_SCENARIOS, REQUEST_KINDS, SCENARIOS } from './scenarios.ts';

const USAGE = `Usage: make bench ARGS='[SCENARIO…] [FLAG…]'

Scenarios (${DEFAULT_SCENARIOS.join(' and ')} unless told otherwise):
${SCENARIOS.map(({ name, nodes, podsPerNode, containersPerPod }) => `  ${name.padEnd(8)}${nodes} nodes × ${podsPerNode} pods × ${containersPerPod} containers`).join('\n')}

Flags:
  --scrape-seconds N  how long to watch the server scrape without any request (30)
  --scrape-only       ask nothing
  --round-seconds N   how long a round of requests takes (0.5)
  --rounds N          how many rounds each kind of request gets (3)
  --json              print one JSON document instead of tables
  --help              print this text`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'scrape-seconds': { type: 'string', default: '30' },
    'scrape-only': { type: 'boolean', default: false },
    'round-seconds': { type: 'string', default: '0.5' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(USAGE);
} else {
  const [cpu, ...more] = cpus();
  const machine = { node: process.version, cpu: cpu?.model, cores: more.length + 1 };
  if (!values.json) console.log(`Node ${machine.node} on ${machine.cores} × ${machine.cpu}\n`);
  const results: ScenarioResult[] = [];
  for (const scenario of chosen(positionals)) {
    const result = await runScenario(scenario, {
      program: [process.execPath, 'dist/main.js'],
      scrapeMs: positive('scrape-seconds') * 1000,
      kinds: values['scrape-only'] ? [] : REQUEST_KINDS,
      roundMs: positive('round-seconds') * 1000,
      rounds: positive('rounds'),
      onProgress: (what) => console.error(`${scenario.name}: ${what}`),
    });
    results.push(result);
    if (!values.json) console.log(`${reportScenario(result)}\n`);
  }
  if (values.json) console.log(JSON.stringify({ machine, results }, undefined, 2));
}

function chosen(names: readonly string[]) {
  return (names.length > 0 ? names : DEFAULT_SCENARIOS).map((wanted) => {
    const scenario = SCENARIOS.find(({ name }) => name === wanted);
    if (scenario === undefined)
      throw new Error(`Cannot run scenario "${wanted}": there is none of that name`);
    return scenario;
  });
}

function positive(flag: 'scrape-seconds' | 'round-seconds' | 'rounds'): number {
  const value = Number(values[flag]);
  if (!(value > 0)) throw new Error(`Cannot use --${flag}=${values[flag]}: it must be a positive number`);
  return value;
}
