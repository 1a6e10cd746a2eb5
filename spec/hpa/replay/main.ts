import { readCases } from './read-cases.ts';
import { formatReport, replayAll } from './replay-report.ts';

// npm run -s replay-hpa -- FILE: replays a file of recorded decisions, gzipped or not. It fails if one differs that
// docs/explanation/hpa.md does not name; its status is 2 if the file cannot be read.

const USAGE = 'Usage: npm run -s replay-hpa -- FILE\n';

const [file, ...more] = process.argv.slice(2);
if (file === '--help' || file === '-h') {
  process.stdout.write(USAGE);
} else if (file === undefined || more.length > 0) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  try {
    const report = replayAll(readCases(file));
    process.stdout.write(`${formatReport(report)}\n`);
    if (report.differing.some(({ deliberate }) => deliberate === undefined)) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}
