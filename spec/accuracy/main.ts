// Writes docs/contributing/accuracy.md: the served values of a simulated day, compared with the actual usage.
import { writeFile } from 'node:fs/promises';
import { reportDay } from './report.ts';
import { runDay } from './run-day.ts';

const REPORT = 'docs/contributing/accuracy.md';

const day = await runDay({ seed: 1, nodes: 200, podsPerNode: 8, hours: 24, pace: 1 });
await writeFile(REPORT, reportDay(day));
console.log(`${day.faultCount} faults; see ${REPORT}`);
if (day.faultCount > 0) process.exitCode = 1;
