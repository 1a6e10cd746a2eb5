import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { judgeReplay } from './judge-replay.ts';
import { replayMetrics } from './replay-metrics.ts';

// npm run -s replay-custom-metrics -- FOLDER: serves a folder's dataset.json and replays its requests/. It fails if a
// response differs in what docs/contributing/conformance-custom-metrics.md does not name.

const USAGE = 'Usage: npm run -s replay-custom-metrics -- FOLDER\n';

const [folder, ...more] = process.argv.slice(2);
if (folder === '--help' || folder === '-h') {
  process.stdout.write(USAGE);
} else if (folder === undefined || more.length > 0) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else if (!existsSync(join(folder, 'dataset.json')) || !existsSync(join(folder, 'requests'))) {
  process.stderr.write(`Cannot replay ${folder}: it must have a dataset.json and a folder requests\n`);
  process.exitCode = 2;
} else {
  const judged = judgeReplay(await replayMetrics(folder));
  const differing = judged.filter(({ differs }) => differs.length > 0);
  for (const { name, differs, documented } of differing) {
    const isNamed = differs.every((aspect) => documented.includes(aspect));
    process.stdout.write(`${name}: ${differs.join(', ')}${isNamed ? ', as documented' : ''}\n`);
    if (!isNamed) process.exitCode = 1;
  }
  process.stdout.write(`${judged.length - differing.length} agree, ${differing.length} differ\n`);
}
