import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import {
  formatRequirement,
  type LabelOperator,
  type LabelRequirement,
  labelRequirement,
} from '#lib/kubernetes/selectors/label-requirement.ts';
import { SelectorError } from '#lib/kubernetes/selectors/selector-error.ts';
import type { LabelSelectorObject } from '../objects/references.ts';

/**
 * Writes a selector of a metric as requests carry it: sorted by key; empty where there is none.
 *
 * @throws {SelectorError} when it is no selector, with the message of Kubernetes
 */
export function metricSelector(selector: LabelSelectorObject | undefined): string {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const requirements: LabelRequirement[] = Object.entries(matchLabels).map(([key, value]) =>
    labelRequirement(key, '=', [value]),
  );
  for (const { key, operator, values = [] } of matchExpressions) {
    const known = OPERATORS.get(operator);
    if (known === undefined)
      throw new SelectorError(`${goQuote(operator)} is not a valid label selector operator`);
    requirements.push(labelRequirement(key, known, values));
  }
  return requirements
    .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
    .map(formatRequirement)
    .join(',');
}

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);
