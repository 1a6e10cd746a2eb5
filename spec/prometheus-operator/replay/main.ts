import { runReplay } from '#spec/support/run-replay.ts';
import { readCases } from './recorded-case.ts';
import { replayCase } from './replay-case.ts';

// npm run -s replay-prometheus-operator -- FILE: replays recorded cases of prometheus-operator. Ends with
// `N agree, M differ, K not built yet`. It fails if a case differs without a reason in deliberate-differences.ts; its status is 2 if
// the file cannot be read.

const PAGE = 'docs/reference/prometheus-operator.md';

await runReplay({ name: 'replay-prometheus-operator', argument: 'FILE', replay });

function replay(path: string): boolean {
  const replayed = readCases(path).map(replayCase);
  const differing = replayed.filter(({ outcome }) => outcome === 'differs');
  for (const { name, deliberate, why } of differing)
    process.stdout.write(`differs: ${name}: ${why ?? `${deliberate.join(', ')}, see ${PAGE}`}\n`);
  const notBuilt = replayed.filter(({ outcome }) => outcome === 'not built');
  for (const [why, cases] of Map.groupBy(notBuilt, (one) => one.why))
    process.stdout.write(`not built yet: ${why} (${cases.length} cases)\n`);
  const agreed = replayed.length - differing.length - notBuilt.length;
  process.stdout.write(`${agreed} agree, ${differing.length} differ, ${notBuilt.length} not built yet\n`);
  return differing.every(({ why }) => why === undefined);
}
