import { parseDurationMs } from '#lib/time/duration.ts';
import { fuzz } from './fuzz.ts';
import { readRecordedFailures, recordFailure } from './recorded-failures.ts';
import { FUZZ_TARGETS } from './targets.ts';

// Fuzzes for a duration (by default 1m; first argument), divided equally among the targets. A second argument selects the
// targets whose names contain it.
const durationMs = parseDurationMs(process.argv[2] ?? '1m');
if (durationMs === undefined || durationMs <= 0) {
  process.stderr.write(`TIME=${process.argv[2]} is no duration such as 30s or 10m\n`);
  process.exit(1);
}
const retained = readRecordedFailures();
const targets = FUZZ_TARGETS.filter(({ name }) => name.includes(process.argv[3] ?? ''));
for (const target of targets) {
  const timeMs = durationMs / targets.length;
  const { runs, failure } = await fuzz(target, { runs: 1e9, timeMs, retained: retained[target.name] ?? [] });
  process.stdout.write(`${target.name}: ${runs} texts, ${failure ? 'FAILED' : 'no failure'}\n`);
  if (!failure) continue;
  recordFailure(target.name, failure.text);
  process.stdout.write(
    `  seed ${failure.seed}: ${failure.reason}\n  ${JSON.stringify(failure.text.slice(0, 500))}\n`,
  );
  process.exitCode = 1;
}
