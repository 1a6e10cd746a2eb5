// Changes the code in one place at a time and tells which changes no spec notices: node scripts/mutants/main.ts [DIR] [SPECS] [SAMPLE] [SEED]
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

const [folder = '', specs = '', sample = '', seed = ''] = process.argv.slice(2);
if (!/^(?:[1-9]\d*)?$/.test(sample)) throw new Error(`SAMPLE must be a whole number above 0, not ${sample}`);
const mutate = folder
  ? folder.split(' ').map((one) => (statSync(one).isDirectory() ? `${one}/**/*.ts` : one))
  : changedSources();
if (mutate.length === 0) {
  console.log(
    'Nothing of lib/ has changed, neither since the last commit nor in it; DIR=lib/… names a folder',
  );
} else {
  const results = await new Stryker({
    testRunner: 'mocha-12',
    plugins: ['./mocha-runner.ts', './draw-checker.ts'].map((file) => import.meta.resolve(file)),
    checkers: sample ? ['draw'] : [],
    drawn: { sample: Number(sample), seed },
    mutate,
    specs: specs ? specs.split(' ') : [...new Set(mutate.map(specsOf))],
    coverageAnalysis: 'perTest',
    ignoreStatic: true, // what runs as a file is loaded would need a process for each change
    ignorePatterns: ['.cache', 'dist'],
    tsconfigFile: 'none.json', // its preprocessor wants the API of an older TypeScript, and there is no build to configure
    reporters: ['clear-text', 'html'],
    clearTextReporter: { reportTests: false, logTests: false },
    htmlReporter: { fileName: '.cache/mutants/report.html' },
    tempDirName: '.cache/mutants/sandbox',
    concurrency: 2,
    timeoutMS: 20_000, // beyond one and a half times what the specs of a change took before: load is not to pass for notice
    dryRunTimeoutMinutes: 20, // all specs once, where others use the machine, too
    warnings: { unknownOptions: false, preprocessorErrors: true, unserializableOptions: true, slow: true },
  }).runMutationTest();
  const of = (...wanted: readonly string[]) => results.filter(({ status }) => wanted.includes(status)).length;
  const [killed, late, unreached, leftOut] = [
    of('Killed'),
    of('Timeout'),
    of('NoCoverage'),
    of('CompileError'), // not drawn
  ];
  const tried = killed + late + of('Survived');
  const all = tried + unreached;
  console.log(
    `${killed + late} of ${tried} changes noticed, ${late} of them by timeout; no spec reaches ${unreached} others`,
  );
  if (sample) console.log(`They were drawn from ${all + leftOut}`);
  const share = ((100 * (killed + late)) / Math.max(1, all)).toFixed(1);
  console.log(`${share} % of these; the report is .cache/mutants/report.html`);
}

/** Sources that differ from the last commit or, where none does, those that it changed. */
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

/** The specs that mirror the folder of a source or, where there are none, that of the folder above. */
function specsOf(source: string): string {
  let mirror = (source.endsWith('.ts') ? dirname(source) : source)
    .replace(/^lib/, 'spec')
    .replace(/\/\*\*$/, '');
  while (!existsSync(mirror)) mirror = dirname(mirror);
  return `${mirror}/**/*.spec.ts`;
}
