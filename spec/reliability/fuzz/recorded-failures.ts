import { readFileSync, writeFileSync } from 'node:fs';

const FILE = 'spec/fixtures/fuzz-failures.json';

/** Texts on which a target failed before, by target; every run tries them again. */
export type RecordedFailures = Readonly<Record<string, readonly string[]>>;

export function readRecordedFailures(): RecordedFailures {
  return JSON.parse(readFileSync(FILE, 'utf8')) as RecordedFailures;
}

/** Saves a text for future runs. */
export function recordFailure(target: string, text: string): void {
  const retained = readRecordedFailures();
  const next = { ...retained, [target]: [...(retained[target] ?? []), text] };
  writeFileSync(FILE, `${JSON.stringify(next, null, 2)}\n`);
}
