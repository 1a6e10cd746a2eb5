import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parseCases } from './recorded-case.ts';
import { formatReport, replayAll } from './replay-report.ts';

// npm run -s replay-hpa -- FILE: replays a file of recorded decisions, gzipped or not. It fails if one differs that
// docs/hpa.md does not name.

const [file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('Usage: npm run -s replay-hpa -- FILE\n');
  process.exitCode = 2;
} else if (!existsSync(file)) {
  process.stderr.write(`Cannot replay ${file}: there is no such file\n`);
  process.exitCode = 2;
} else {
  const bytes = readFileSync(file);
  const isGzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const report = replayAll(parseCases((isGzipped ? gunzipSync(bytes) : bytes).toString('utf8')));
  process.stdout.write(`${formatReport(report)}\n`);
  if (report.differing.some(({ deliberate }) => deliberate === undefined)) process.exitCode = 1;
}
