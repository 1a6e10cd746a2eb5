import { readFileSync, writeFileSync } from 'node:fs';

const FILE = 'spec/fixtures/fuzz-failures.json';

/** Texts on which a target failed before, by target; every run tries them again. */
export type KeptFailures = Readonly<Record<string, readonly string[]>>;

export function readKeptFailures(): KeptFailures {
  return JSON.parse(readFileSync(FILE, 'utf8')) as KeptFailures;
}

/** Saves a text for future runs. */
export function keepFailure(target: string, text: string): void {
  const kept = readKeptFailures();
  const next = { ...kept, [target]: [...(kept[target] ?? []), text] };
  writeFileSync(FILE, `${JSON.stringify(next, null, 2)}\n`);
}
