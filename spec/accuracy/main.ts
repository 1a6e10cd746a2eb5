// Writes docs/contributing/accuracy.md: the served values of a simulated day, compared with the actual usage.
import { writeFile } from 'node:fs/promises';
import type { ValueKind } from './observer.ts';
import { measureReaction, type Reaction, type ReactionSettings } from './reaction.ts';
import { reportAccuracy } from './report.ts';
import { runDay } from './run-day.ts';

const REPORT = 'docs/contributing/accuracy.md';

/** Of 99 in 100 values. */
const MAX_ERRORS: Partial<Record<ValueKind, number>> = {
  'container on demand': 0.01,
  'container cached': 0.07,
  'container resource': 0.001,
  'node summary': 0.07,
  'node resource': 0.001,
};

const SETTINGS: readonly ReactionSettings[] = [
  { resolutionMs: 60_000, periodSeconds: 15, endpoint: 'summary', runtime: 'cri' },
  { resolutionMs: 15_000, periodSeconds: 15, endpoint: 'summary', runtime: 'cri' },
  { resolutionMs: 15_000, periodSeconds: 5, endpoint: 'summary', runtime: 'cri' },
  { resolutionMs: 10_000, periodSeconds: 5, endpoint: 'summary', runtime: 'cri' },
  { resolutionMs: 5000, periodSeconds: 5, endpoint: 'resource', runtime: 'cri' },
  { resolutionMs: 5000, periodSeconds: 2, endpoint: 'resource', runtime: 'cri' },
  { resolutionMs: 15_000, periodSeconds: 15, endpoint: 'summary', runtime: 'cadvisor' },
  { resolutionMs: 5000, periodSeconds: 5, endpoint: 'resource', runtime: 'cadvisor' },
];

const day = await runDay({ seed: 1, nodes: 100, podsPerNode: 8, hours: 12, pace: 1 });
const reactions: Reaction[] = [];
for (const settings of SETTINGS) reactions.push(await measureReaction(settings));
await writeFile(REPORT, reportAccuracy(day, reactions));
const inexact = Object.entries(MAX_ERRORS).filter(([kind, max]) => day.errors[kind as ValueKind].p99 > max);
console.log(
  `${day.faultCount} faults, ${inexact.length} kinds of values with too large errors; see ${REPORT}`,
);
if (day.faultCount > 0 || inexact.length > 0) process.exitCode = 1;
