import { isDeepStrictEqual } from 'node:util';
import { type Aspect, isMeant, readDocumentedDifferences } from '../documented-differences.ts';
import type { Replayed } from './replay-metrics.ts';

/** How a response differs from the recorded one. */
export interface Judged {
  readonly name: string;
  readonly differs: readonly Aspect[];
  /** The differences that the table documents. */
  readonly documented: readonly Aspect[];
}

/** The page with the table. */
export const METRICS_PAGE = 'docs/contributing/conformance-custom-metrics.md';

const ASPECTS: readonly Aspect[] = ['status', 'headers', 'body'];

/** Compares responses with the recorded ones, and their differences with the documented ones. */
export function judgeReplay(replayed: readonly Replayed[]): readonly Judged[] {
  const differences = readDocumentedDifferences(METRICS_PAGE);
  return replayed.map(({ recording: { name }, ours, theirs }) => {
    const named = differences.filter(({ recordings }) =>
      recordings.some((pattern) => isMeant(pattern, name)),
    );
    const documented = new Set(named.flatMap(({ aspects }) => aspects));
    return {
      name,
      differs: ASPECTS.filter((aspect) => !isDeepStrictEqual(ours[aspect], theirs[aspect])),
      documented: ASPECTS.filter((aspect) => documented.has(aspect)),
    };
  });
}
