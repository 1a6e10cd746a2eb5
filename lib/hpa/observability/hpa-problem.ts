import type { HpaDecisions } from './decision-log.ts';

/** The problem of an HPA, with its kind in a few words, such as `Metric missing`. */
interface HpaProblem {
  readonly state: 'failing' | 'waiting';
  readonly kind: string;
}

/** Steps that end before metrics because of an error. */
const FAILING_STEPS: ReadonlyMap<string, string> = new Map([
  ['no-scale', 'Scale of the target unknown'],
  ['omitted-spec', 'The spec of the HPA is too large'],
  ['unclear-pods', 'Pods of the target cannot be determined'],
]);

/** The problem of the latest decision; `undefined` for a healthy HPA. */
export function findProblem({ decisions, missingSinceMs, other }: HpaDecisions): HpaProblem | undefined {
  if (other) return { state: 'waiting', kind: 'Managed by another controller' };
  if (missingSinceMs !== undefined) return { state: 'failing', kind: 'Metric missing' };
  const { step = '', error } = decisions.at(-1) ?? {};
  const kind = FAILING_STEPS.get(step) ?? (error === undefined ? undefined : 'Not scaled');
  return kind === undefined ? undefined : { state: 'failing', kind };
}
