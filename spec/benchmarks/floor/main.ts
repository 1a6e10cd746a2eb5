// The floor in a process of its own: takes its order as JSON, records answers, says where it serves them.
import { startFloorServer } from './floor-server.ts';
import { recordAnswers } from './record-answers.ts';
import type { FloorOrder } from './start-floor.ts';

const { certificate, ...recording } = JSON.parse(process.argv[2] ?? '') as FloorOrder;
const { origin } = await startFloorServer(await recordAnswers(recording), certificate);
console.log(`Serving at ${origin}`);
