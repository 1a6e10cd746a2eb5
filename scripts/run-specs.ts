// Runs every spec, dealt out to two processes of mocha: node scripts/run-specs.ts [arguments of mocha]. TIMES=20 runs all again and again.
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { processes, startMocha } from './run-mocha.ts';

const times = Number(process.env.TIMES || 1);
if (!Number.isInteger(times) || times < 1)
  throw new Error(`TIMES must be a whole number above 0, not ${times}`);

for (let run = 1; run <= times && !process.exitCode; run++) {
  const startMs = performance.now();
  const statuses = await Promise.all(shares().map(statusOf));
  if (statuses.some((status) => status !== 0)) process.exitCode = 1;
  const outcome = process.exitCode ? 'failed' : 'passed';
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.log(`Run ${run} of ${times} ${outcome} in ${seconds} s, in ${processes} processes`);
}

/** By turns, so that a folder of costly specs is shared. */
function shares(): string[][] {
  const files = globSync('spec/**/*.spec.ts').sort();
  return Array.from({ length: processes }, (_, share) =>
    files.filter((_file, index) => index % processes === share),
  );
}

async function statusOf(files: readonly string[]): Promise<number> {
  const mocha = startMocha([...process.argv.slice(2), ...files], 'inherit');
  const [status, signal] = await once(mocha, 'exit');
  if (status !== 0) console.log(`A process of mocha ended by ${signal ?? `status ${status}`}`);
  return status ?? 1;
}
