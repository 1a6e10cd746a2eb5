import type { HpaDecisions } from './decision-log.ts';

/** The problem of an HPA in a word or two, such as `metric missing`. */
interface HpaProblem {
  readonly state: 'failing' | 'waiting';
  readonly word: string;
}

/** Steps that end before metrics because of an error. */
const FAILING_STEPS: ReadonlyMap<string, string> = new Map([
  ['no-scale', 'no scale'],
  ['unclear-pods', 'unclear pods'],
]);

/** The problem of the latest decision; `undefined` for a healthy HPA. */
export function findProblem({ decisions, missingSinceMs, other }: HpaDecisions): HpaProblem | undefined {
  if (other) return { state: 'waiting', word: 'not managed' };
  if (missingSinceMs !== undefined) return { state: 'failing', word: 'metric missing' };
  const { step = '', error } = decisions.at(-1) ?? {};
  const word = FAILING_STEPS.get(step) ?? (error === undefined ? undefined : 'not scaled');
  return word === undefined ? undefined : { state: 'failing', word };
}
