// Replays recorded schedules: npm run -s replay-cron -- FILE. Ends with `N agree, M differ`; the deliberate differences
// are in docs/reference/cron-hpa.md, and any other makes the exit status 1. It is 2 if the file cannot be read.
import { readFileSync } from 'node:fs';
import { compareCronVector, parseCronVectors } from '#spec/support/cron-vectors.ts';
import { runReplay } from '#spec/support/run-replay.ts';

await runReplay({ name: 'replay-cron', argument: 'FILE', replay });

/** Reports how each schedule of a file compares. */
function replay(path: string): boolean {
  let agreed = 0;
  let unexpected = 0;
  const deliberate = new Map<string, number>();
  const vectors = parseCronVectors(readFileSync(path, 'utf8'));
  for (const vector of vectors) {
    const { outcome, differences, ours } = compareCronVector(vector);
    if (outcome === 'agrees') agreed++;
    else if (outcome === 'differs deliberately')
      for (const name of differences) deliberate.set(name, (deliberate.get(name) ?? 0) + 1);
    else {
      unexpected++;
      process.stdout.write(`differs: ${JSON.stringify(vector)}\n   ours: ${ours}\n`);
    }
  }
  for (const [name, count] of deliberate)
    process.stdout.write(`${count} differ by ${name}, see docs/reference/cron-hpa.md\n`);
  process.stdout.write(`${agreed} agree, ${vectors.length - agreed} differ\n`);
  return unexpected === 0;
}
