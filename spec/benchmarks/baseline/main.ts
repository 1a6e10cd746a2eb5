// The baseline in a process of its own: takes its order as JSON, records responses, says where it serves them.
import { startBaselineServer } from './baseline-server.ts';
import { recordResponses } from './record-responses.ts';
import type { BaselineOrder } from './start-baseline.ts';

const { certificate, ...recording } = JSON.parse(process.argv[2] ?? '') as BaselineOrder;
const { origin } = await startBaselineServer(await recordResponses(recording), certificate);
console.log(`Serving at ${origin}`);
