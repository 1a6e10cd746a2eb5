// Makes sure that there is a Kubernetes control plane for the acceptance run, and tells where; --within SECONDS says how
// long making one may take.
import { parseArgs } from 'node:util';
import { findBinaries, makeBinaries } from '#spec/acceptance/control-plane/find-binaries.ts';

const { values } = parseArgs({ options: { within: { type: 'string', default: '1800' } } });

try {
  const found = await findBinaries();
  if (!found) console.error('There is no Kubernetes control plane yet; making one takes about five minutes');
  const made =
    found ?? (await makeBinaries({ timeoutMs: Number(values.within) * 1000, tell: console.error }));
  console.log(`The control plane is ${made.apiServer} and what lies beside it, ${made.origin}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
