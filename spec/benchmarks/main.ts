// Measures what the server costs, as one table or one JSON document: make bench ARGS='small --json'.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { compare } from './compare.ts';
import { reportComparison, reportScenario } from './report.ts';
import { type BenchmarkOptions, runScenario, type ScenarioResult } from './run-scenario.ts';
import { type BenchmarkScenario, DEFAULT_SCENARIOS, REQUEST_KINDS, SCENARIOS } from './scenarios.ts';

type Program = BenchmarkOptions['program'];

const OURS: Program = [process.execPath, 'dist/main.js'];

const USAGE = `Usage: make bench ARGS='[SCENARIO…] [FLAG…]'

Scenarios (${DEFAULT_SCENARIOS.join(' and ')} unless told otherwise):
${SCENARIOS.map(({ name, nodes, podsPerNode, containersPerPod }) => `  ${name.padEnd(8)}${nodes} nodes × ${podsPerNode} pods × ${containersPerPod} containers`).join('\n')}

Flags:
  --scrape-seconds N  how long to watch the server scrape without any request (30)
  --scrape-only       ask nothing
  --round-seconds N   how long a round of requests takes (0.5)
  --rounds N          how many rounds each kind of request gets (3)
  --against CMD       run another server, too, by the command line CMD up to its flags; by turns, and tell ratios
  --turns N           how often each of the two runs (2)
  --json              print one JSON document instead of tables
  --help              print this text`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'scrape-seconds': { type: 'string', default: '30' },
    'scrape-only': { type: 'boolean', default: false },
    'round-seconds': { type: 'string', default: '0.5' },
    rounds: { type: 'string', default: '3' },
    against: { type: 'string' },
    turns: { type: 'string', default: '2' },
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
  const other = values.against?.trim().split(/\s+/) as Program | undefined;
  const turns = other ? positive('turns') : 1;
  const all = [];
  for (const scenario of chosen(positionals)) {
    const results: ScenarioResult[] = [];
    const others: ScenarioResult[] = [];
    for (let turn = 0; turn < turns; turn++) {
      results.push(await run(scenario, OURS));
      if (other) others.push(await run(scenario, other));
    }
    const comparisons = other ? compare(results, others) : [];
    all.push({ results, others, comparisons });
    if (values.json) continue;
    for (const result of results) console.log(`${reportScenario(result)}\n`);
    if (other) console.log(`Against ${values.against}:\n\n${reportComparison(comparisons)}\n`);
  }
  if (values.json) console.log(JSON.stringify({ machine, scenarios: all }, undefined, 2));
}

async function run(scenario: BenchmarkScenario, program: Program): Promise<ScenarioResult> {
  return await runScenario(scenario, {
    program,
    scrapeMs: positive('scrape-seconds') * 1000,
    kinds: values['scrape-only'] ? [] : REQUEST_KINDS,
    roundMs: positive('round-seconds') * 1000,
    rounds: positive('rounds'),
    onProgress: (what) => console.error(`${scenario.name}: ${what}`),
  });
}

function chosen(names: readonly string[]) {
  return (names.length > 0 ? names : DEFAULT_SCENARIOS).map((wanted) => {
    const scenario = SCENARIOS.find(({ name }) => name === wanted);
    if (scenario === undefined)
      throw new Error(`Cannot run scenario "${wanted}": there is none of that name`);
    return scenario;
  });
}

function positive(flag: 'scrape-seconds' | 'round-seconds' | 'rounds' | 'turns'): number {
  const value = Number(values[flag]);
  if (!(value > 0)) throw new Error(`Cannot use --${flag}=${values[flag]}: it must be a positive number`);
  return value;
}
