import type { HpaDecisions } from './decision-log.ts';

/** Why an HPA does not do what it is meant to, in a word or two: `metric missing`. */
interface HpaTrouble {
  readonly state: 'failing' | 'waiting';
  readonly word: string;
}

/** Steps that end without a look at metrics, because something is wrong. */
const FAILING_STEPS: ReadonlyMap<string, string> = new Map([
  ['no-scale', 'no scale'],
  ['unclear-pods', 'unclear pods'],
]);

/** What is wrong with an HPA, as its latest decision tells; `undefined` where it is well. */
export function troubleOf({ decisions, missingSinceMs, other }: HpaDecisions): HpaTrouble | undefined {
  if (other) return { state: 'waiting', word: 'left alone' };
  if (missingSinceMs !== undefined) return { state: 'failing', word: 'metric missing' };
  const { step = '', error } = decisions.at(-1) ?? {};
  const word = FAILING_STEPS.get(step) ?? (error === undefined ? undefined : 'not scaled');
  return word === undefined ? undefined : { state: 'failing', word };
}
