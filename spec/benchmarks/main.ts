// Measures the server's cost, as a table or a JSON document: make bench ARGS='small --json'.
import { cpus } from 'node:os';
import { calibrate } from './calibrate.ts';
import { parseCommandLine, USAGE } from './command-line.ts';
import { compare } from './compare.ts';
import {
  CONTROLLERS_SCENARIO,
  type ControllersResult,
  measureControllers,
  reportControllers,
} from './controllers/measure-controllers.ts';
import { measureForeignText, reportForeignText } from './foreign-text.ts';
import type { HpasScenario } from './hpa/hpas-scenarios.ts';
import { type HpasResult, measureHpas } from './hpa/measure-hpas.ts';
import { reportHpas } from './hpa/report-hpas.ts';
import {
  METRICS_ADAPTER_SCENARIO,
  type MetricsAdapterResult,
  measureMetricsAdapter,
} from './metrics-adapter/measure-metrics-adapter.ts';
import { reportMetricsAdapter } from './metrics-adapter/report-metrics-adapter.ts';
import { quantile } from './quantile.ts';
import { reportComparison, reportMachine, reportScenario } from './report.ts';
import { type BenchmarkOptions, runScenario, type ScenarioResult } from './run-scenario.ts';
import {
  measureScaledObjects,
  SCALED_OBJECTS_SCENARIO,
  type ScaledObjectsResult,
} from './scaled-objects/measure-scaled-objects.ts';
import { reportScaledObjects } from './scaled-objects/report-scaled-objects.ts';
import type { BenchmarkScenario } from './scenarios.ts';

type Program = BenchmarkOptions['program'];

const OURS: Program = [process.execPath, 'dist/main.js'];

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => interruption.abort(new Error('Interrupted')));
}
process.on('uncaughtException', (error) => {
  console.error(error.message.replaceAll('\n', ' '));
  process.exit(1);
});

const commandLine = parseCommandLine(process.argv.slice(2));
const { help, json, scenarios, foreignText, controllers, metricsAdapter, hpas, measure, against, turns } =
  commandLine;

if (help) {
  console.log(USAGE);
} else {
  const [cpu, ...more] = cpus();
  const machine = {
    node: process.version,
    cpu: cpu?.model,
    cores: more.length + 1,
    ...(await calibrate()),
  };
  if (!json) console.log(`${reportMachine(machine)}\n`);
  const all = [];
  for (const scenario of scenarios) {
    const results: ScenarioResult[] = [];
    const others: ScenarioResult[] = [];
    for (let round = 0; round < (against ? turns : 1); round++) {
      if (against) others.push(await run(scenario, against)); // first, so that a program that cannot start fails early
      results.push(await run(scenario, OURS));
    }
    const comparisons = against ? compare(results, others) : [];
    all.push({ results, others, comparisons });
    if (json) continue;
    for (const result of results) console.log(`${reportScenario(result)}\n`);
    if (!against) continue;
    console.log(`Against ${against.join(' ')}:\n`);
    for (const result of others) console.log(`${reportScenario(result)}\n`);
    console.log(`${reportComparison(comparisons)}\n`);
  }
  const texts = foreignText ? await measureForeignText() : [];
  if (foreignText && !json) console.log(`${reportForeignText(texts)}\n`);
  const reconciled = controllers ? await runControllers() : undefined;
  if (reconciled && !json) console.log(`${reportControllers(reconciled)}\n`);
  const collected = metricsAdapter ? await runMetricsAdapter() : undefined;
  if (collected && !json) console.log(`${reportMetricsAdapter(collected)}\n`);
  const decided: HpasResult[] = [];
  for (const scenario of hpas) {
    const result = await runHpas(scenario);
    decided.push(result);
    if (!json) console.log(`${reportHpas(result)}\n`);
  }
  const polled = commandLine.scaledObjects ? await runScaledObjects() : undefined;
  if (polled && !json) console.log(`${reportScaledObjects(polled)}\n`);
  if (json) {
    const controllers = reconciled && { ...reconciled, latenciesMs: quantilesOf(reconciled.latenciesMs) };
    const hpas = decided.map(({ reactionsMs, actingMs, ...one }) => ({
      ...one,
      reactionsMs: quantilesOf(reactionsMs),
      actingMs: quantilesOf(actingMs),
    }));
    const scaledObjects = polled && {
      ...polled,
      polls: { ...polled.polls, deviationsMs: quantilesOf(polled.polls.deviationsMs) },
      hanging: { ...polled.hanging, deviationsMs: quantilesOf(polled.hanging.deviationsMs) },
      reactionsMs: quantilesOf(polled.reactionsMs),
      pushReactionsMs: quantilesOf(polled.pushReactionsMs),
    };
    console.log(
      JSON.stringify(
        {
          machine,
          scenarios: all,
          foreignText: texts,
          controllers,
          metricsAdapter: collected,
          hpas,
          scaledObjects,
        },
        undefined,
        2,
      ),
    );
  }
}

async function runControllers(): Promise<ControllersResult> {
  return await measureControllers(CONTROLLERS_SCENARIO, {
    program: OURS,
    signal: interruption.signal,
    onProgress: (what) => console.error(`controllers: ${what}`),
  });
}

async function runMetricsAdapter(): Promise<MetricsAdapterResult> {
  return await measureMetricsAdapter(METRICS_ADAPTER_SCENARIO, {
    program: OURS,
    signal: interruption.signal,
    onProgress: (what) => console.error(`metrics-adapter: ${what}`),
  });
}

async function runHpas(scenario: HpasScenario): Promise<HpasResult> {
  return await measureHpas(scenario, {
    program: OURS,
    signal: interruption.signal,
    onProgress: (what) => console.error(`${scenario.name}: ${what}`),
  });
}

async function runScaledObjects(): Promise<ScaledObjectsResult> {
  return await measureScaledObjects(SCALED_OBJECTS_SCENARIO, {
    program: OURS,
    signal: interruption.signal,
    onProgress: (what) => console.error(`scaled-objects: ${what}`),
  });
}

function quantilesOf(ascending: readonly number[]) {
  return Object.fromEntries([0.5, 0.95, 0.99, 1].map((share) => [`${share}`, quantile(ascending, share)]));
}

async function run(scenario: BenchmarkScenario, program: Program): Promise<ScenarioResult> {
  return await runScenario(scenario, {
    ...measure,
    program,
    signal: interruption.signal,
    onProgress: (what) => console.error(`${scenario.name}: ${what}`),
  });
}
