import { runReplay } from '#spec/support/run-replay.ts';
import { readCases } from './read-cases.ts';
import { formatReport, replayAll } from './replay-report.ts';

// npm run -s replay-hpa -- FILE: replays a file of recorded decisions, gzipped or not. It fails if one differs that
// docs/explanation/hpa.md does not name; its status is 2 if the file cannot be read.

await runReplay({
  name: 'replay-hpa',
  argument: 'FILE',
  replay(file) {
    const report = replayAll(readCases(file));
    process.stdout.write(`${formatReport(report)}\n`);
    return report.differing.every(({ deliberate }) => deliberate !== undefined);
  },
});
