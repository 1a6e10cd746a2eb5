import { parseLabelSelector, SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';

/** Why it is not clear which pods an HPA scales. */
export interface SelectionProblem {
  /** Of event and condition; the event of a missing selector has a reason of its own. */
  readonly reason: string;
  readonly eventReason: string;
  /** Of the condition. */
  readonly message: string;
  /** Of the event, and what the reconcile reports. */
  readonly error: string;
}

/**
 * Checks that the scale's selector can be read, and that no other HPA scales the pods that it selects.
 *
 * @param own `namespace/name` of the HPA
 * @param rivals the others that select one of its pods
 */
export function selectionProblem(
  selector: string,
  { own, rivals }: { readonly own: string; readonly rivals: readonly string[] },
): SelectionProblem | undefined {
  if (selector === '') {
    return {
      reason: 'InvalidSelector',
      eventReason: 'SelectorRequired',
      message: "the HPA target's scale is missing a selector",
      error: 'selector is required',
    };
  }
  try {
    parseLabelSelector(selector);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return problem(
      'InvalidSelector',
      `couldn't convert selector into a corresponding internal selector object: ${error.message}`,
    );
  }
  if (rivals.length === 0) return undefined;
  const all = [...rivals, own].sort();
  const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : '';
  return problem(
    'AmbiguousSelector',
    `pods by selector ${selector} are controlled by multiple HPAs: [${all.slice(0, MOST_NAMED).join(' ')}${more}]`,
  );
}

/** Each of them is told of all of them, in its status and by events: more would be written than is read. */
const MOST_NAMED = 20;

function problem(reason: string, message: string): SelectionProblem {
  return { reason, eventReason: reason, message, error: message };
}
