import { readFileSync, writeFileSync } from 'node:fs';

const FILE = 'spec/fixtures/fuzz-failures.json';

/** Texts on which something failed once, by target: they are tried again in every run. */
export type KeptFailures = Readonly<Record<string, readonly string[]>>;

export function readKeptFailures(): KeptFailures {
  return JSON.parse(readFileSync(FILE, 'utf8')) as KeptFailures;
}

/** Adds a text for runs to come. */
export function keepFailure(target: string, text: string): void {
  const kept = readKeptFailures();
  const next = { ...kept, [target]: [...(kept[target] ?? []), text] };
  writeFileSync(FILE, `${JSON.stringify(next, null, 2)}\n`);
}
