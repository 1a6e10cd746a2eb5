// Builds the Kubernetes control plane for the acceptance run if it is missing, and prints its path; --within SECONDS is
// the timeout of the build.
import { parseArgs } from 'node:util';
import { findBinaries, makeBinaries } from '#spec/acceptance/control-plane/find-binaries.ts';

const { values } = parseArgs({ options: { within: { type: 'string', default: '1800' } } });

try {
  const found = await findBinaries();
  if (!found) console.error('Building a Kubernetes control plane; this takes about five minutes');
  const made =
    found ?? (await makeBinaries({ timeoutMs: Number(values.within) * 1000, report: console.error }));
  console.log(`Using the control plane in the folder of ${made.apiServer}, ${made.origin}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
