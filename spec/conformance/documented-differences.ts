import { readFileSync } from 'node:fs';

/** The parts of a response that may differ from the recorded one. */
export type Aspect = 'status' | 'headers' | 'body';

/** One row of the table of deliberate differences. */
export interface DocumentedDifference {
  /** Names of recordings, with `*` as a wildcard. */
  readonly recordings: readonly string[];
  readonly aspects: readonly Aspect[];
}

const PAGE = 'docs/contributing/conformance.md';
const ASPECTS: readonly string[] = ['status', 'headers', 'body'];

/** Reads the table: recordings, differing parts, our response, reason. */
export function readDocumentedDifferences(page = PAGE): readonly DocumentedDifference[] {
  return readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [, names = '', aspects = ''] = line.split('|').map((cell) => cell.trim());
      return {
        recordings: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
        aspects: aspects.split(', ').filter((aspect): aspect is Aspect => ASPECTS.includes(aspect)),
      };
    })
    .filter(({ aspects }) => aspects.length > 0); // excludes other tables of the page
}

/** Whether a name of the table, which may have wildcards, matches a recording. */
export function isMeant(pattern: string, name: string): boolean {
  return new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`).test(name);
}
