// Tests mutants of the code and reports those that no spec detects: node scripts/mutants/main.ts [DIR] [SPECS] [SAMPLE]
// [SEED]
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

const [folder = '', specs = '', sample = '', seed = ''] = process.argv.slice(2);
if (!/^(?:[1-9]\d*)?$/.test(sample)) throw new Error(`SAMPLE must be a positive integer, not ${sample}`);
const mutate = folder
  ? folder.split(' ').map((one) => (statSync(one).isDirectory() ? `${one}/**/*.ts` : one))
  : changedSources();
if (mutate.length === 0) {
  console.log('No changes in lib/ since the last commit or in it; set DIR=lib/… to test a folder');
} else {
  const results = await new Stryker({
    testRunner: 'mocha-12',
    plugins: ['./mocha-runner.ts', './draw-checker.ts'].map((file) => import.meta.resolve(file)),
    checkers: sample ? ['draw'] : [],
    drawn: { sample: Number(sample), seed },
    mutate,
    specs: specs ? specs.split(' ') : [...new Set(mutate.map(specsOf))],
    coverageAnalysis: 'perTest',
    ignoreStatic: true, // code that runs while a file is loaded would need a process for each mutant
    ignorePatterns: ['.cache', 'dist'],
    tsconfigFile: 'none.json', // its preprocessor requires the API of an older TypeScript, and there is no build to configure
    reporters: ['clear-text', 'html'],
    clearTextReporter: { reportTests: false, logTests: false },
    htmlReporter: { fileName: '.cache/mutants/report.html' },
    tempDirName: '.cache/mutants/sandbox',
    concurrency: 2,
    timeoutMS: 20_000, // beyond 1.5 times the previous duration of the mutant's specs, so that load does not count as a detection
    dryRunTimeoutMinutes: 20, // all specs once, on a machine that other processes use, too
    warnings: { unknownOptions: false, preprocessorErrors: true, unserializableOptions: true, slow: true },
  }).runMutationTest();
  const of = (...statuses: readonly string[]) =>
    results.filter(({ status }) => statuses.includes(status)).length;
  const [killed, late, unreached, leftOut] = [
    of('Killed'),
    of('Timeout'),
    of('NoCoverage'),
    of('CompileError'), // not in the sample
  ];
  const tried = killed + late + of('Survived');
  const all = tried + unreached;
  console.log(
    `${killed + late} of ${tried} mutants detected, ${late} of them by timeout; no spec reaches ${unreached} others`,
  );
  if (sample) console.log(`They are a sample of ${all + leftOut}`);
  const share = ((100 * (killed + late)) / Math.max(1, all)).toFixed(1);
  console.log(`${share} % of these; the report is .cache/mutants/report.html`);
}

/** Sources that differ from the last commit or, if none does, those that it changed. */
function changedSources(): string[] {
  const uncommitted = [
    ...names('diff', '--name-only', 'HEAD'),
    ...names('ls-files', '--others', '--exclude-standard'),
  ];
  const changed = uncommitted.some(isSource) ? uncommitted : names('diff', '--name-only', 'HEAD~1', 'HEAD');
  return changed.filter((name) => isSource(name) && existsSync(name));
}

function names(...args: readonly string[]): string[] {
  return execFileSync('git', [...args], { encoding: 'utf8' }).split('\n');
}

function isSource(name: string): boolean {
  return /^lib\/.*\.ts$/.test(name) && !name.endsWith('.d.ts');
}

/** The specs that mirror the folder of a source or, if there are none, its parent folder. */
function specsOf(source: string): string {
  let mirror = (source.endsWith('.ts') ? dirname(source) : source)
    .replace(/^lib/, 'spec')
    .replace(/\/\*\*$/, '');
  while (!existsSync(mirror)) mirror = dirname(mirror);
  return `${mirror}/**/*.spec.ts`;
}
