// Runs every spec in several processes of mocha: node scripts/run-specs.ts [arguments of mocha]. TIMES=20 repeats it.
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { type Durations, deal } from './deal-specs.ts';
import { startMocha } from './run-mocha.ts';

/** Durations of the last run: of each file, and of all together. */
const RECORD = '.cache/spec-durations.json';

const SLOWEST_SHOWN = 10;

/**
 * One more than the number of processors, up to this: a process of mocha waits for timers and sockets half of the time.
 */
const MAX_PROCESSES = 3;

const processes = Math.min(MAX_PROCESSES, availableParallelism() + 1);

interface RunRecord {
  readonly files: Durations;
  readonly totalMs: number | undefined;
}

const times = Number(process.env.TIMES || 1);
if (!Number.isInteger(times) || times < 1) throw new Error(`TIMES must be a positive integer, not ${times}`);

for (let run = 1; run <= times && !process.exitCode; run++) {
  const earlier = readRecord();
  console.log(`Running every spec in ${processes} processes, which usually takes ${usualTime(earlier)}`);
  const durations = new Map<string, number>();
  const skipped = new Set<string>();
  const startMs = performance.now();
  const shares = deal(globSync('spec/**/*.spec.ts').sort(), { processes, durations: earlier.files });
  const statuses = await Promise.all(shares.map((files) => runMocha(files, { durations, skipped })));
  const totalMs = performance.now() - startMs;
  if (statuses.some((status) => status !== 0)) process.exitCode = 1;
  const outcome = process.exitCode ? 'failed' : 'passed';
  printSlowest(durations);
  printSkipped(skipped);
  console.log(`Run ${run} of ${times} ${outcome} in ${seconds(totalMs)}, in ${processes} processes`);
  if (!process.exitCode && durations.size > 0) writeRecord({ files: Object.fromEntries(durations), totalMs });
}

/** Runs mocha on some files, and records the duration of each and what was skipped. */
async function runMocha(
  files: readonly string[],
  { durations, skipped }: { readonly durations: Map<string, number>; readonly skipped: Set<string> },
): Promise<number> {
  const args = ['--reporter', './scripts/duration-reporter.ts', ...process.argv.slice(2), ...files];
  const mocha = startMocha(args, {
    onMessage(message) {
      if (message.skipped !== undefined) skipped.add(message.skipped);
      if (message.file === undefined) return;
      const file = relativePath(message.file);
      durations.set(file, (durations.get(file) ?? 0) + (message.durationMs ?? 0)); // a file has several suites
    },
  });
  const [status, signal] = await once(mocha, 'exit');
  if (status !== 0) console.log(`A mocha process ended with ${signal ?? `status ${status}`}`);
  return status ?? 1;
}

function printSlowest(durations: ReadonlyMap<string, number>): void {
  const slowest = [...durations].sort(([, one], [, other]) => other - one).slice(0, SLOWEST_SHOWN);
  if (slowest.length === 0) return;
  console.log(`The ${slowest.length} slowest files:`);
  for (const [file, durationMs] of slowest) console.log(`  ${seconds(durationMs).padStart(6)}  ${file}`);
}

function printSkipped(skipped: ReadonlySet<string>): void {
  if (skipped.size === 0) return;
  console.log('Some specs were skipped:');
  for (const reason of [...skipped].sort()) console.log(`  ${reason}`);
  console.log('make tools installs the missing programs, on Debian as root');
}

function usualTime({ totalMs }: RunRecord): string {
  return totalMs === undefined ? 'about 5.5 minutes on two cores' : `${seconds(totalMs)} here`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

function relativePath(file: string): string {
  return file.startsWith(`${process.cwd()}/`) ? file.slice(process.cwd().length + 1) : file;
}

function readRecord(): RunRecord {
  try {
    return JSON.parse(readFileSync(RECORD, 'utf8')) as RunRecord;
  } catch {
    return { files: {}, totalMs: undefined }; // the first run here
  }
}

function writeRecord(record: RunRecord): void {
  mkdirSync(dirname(RECORD), { recursive: true });
  writeFileSync(RECORD, JSON.stringify(record, undefined, 1));
}
