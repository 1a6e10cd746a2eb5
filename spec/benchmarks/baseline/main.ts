// Baseline in a process of its own: reads its order as JSON, records responses and reports its origin.
import { startBaselineServer } from './baseline-server.ts';
import { recordResponses } from './record-responses.ts';
import type { BaselineOrder } from './start-baseline.ts';

const { certificate, ...recording } = JSON.parse(process.argv[2] ?? '') as BaselineOrder;
const { origin } = await startBaselineServer(await recordResponses(recording), certificate);
console.log(`Serving at ${origin}`);
