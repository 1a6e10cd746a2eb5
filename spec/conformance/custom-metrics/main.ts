import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runReplay } from '#spec/support/run-replay.ts';
import { judgeReplay } from './judge-replay.ts';
import { replayMetrics } from './replay-metrics.ts';

// npm run -s replay-custom-metrics -- FOLDER: serves a folder's dataset.json and replays its requests/. It fails if a
// response differs in what docs/contributing/conformance-custom-metrics.md does not name.

await runReplay({ name: 'replay-custom-metrics', argument: 'FOLDER', replay });

async function replay(folder: string): Promise<boolean> {
  if (!existsSync(join(folder, 'dataset.json')) || !existsSync(join(folder, 'requests')))
    throw new Error('it must have a dataset.json and a folder requests');
  const judged = judgeReplay(await replayMetrics(folder));
  const differing = judged.filter(({ differs }) => differs.length > 0);
  let isDocumented = true;
  for (const { name, differs, documented } of differing) {
    const isNamed = differs.every((aspect) => documented.includes(aspect));
    process.stdout.write(`${name}: ${differs.join(', ')}${isNamed ? ', as documented' : ''}\n`);
    isDocumented &&= isNamed;
  }
  process.stdout.write(`${judged.length - differing.length} agree, ${differing.length} differ\n`);
  return isDocumented;
}
