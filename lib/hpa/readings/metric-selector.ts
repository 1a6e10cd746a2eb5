import { getOwn } from '#lib/kubernetes/get-own.ts';
import {
  formatRequirement,
  type LabelOperator,
  type LabelRequirement,
  labelRequirement,
  requireLabelKey,
} from '#lib/kubernetes/selectors/label-requirement.ts';
import { SelectorError } from '#lib/kubernetes/selectors/selector-error.ts';
import type { LabelSelectorObject } from '../objects/references.ts';

/**
 * Writes a selector of a metric as requests carry it: sorted by key; empty where there is none.
 *
 * @throws {SelectorError} when it is no selector
 */
export function metricSelector(selector: LabelSelectorObject | undefined): string {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const requirements: LabelRequirement[] = Object.entries(matchLabels).map(([key, value]) =>
    requirement(key, '=', [value]),
  );
  for (const { key, operator, values = [] } of matchExpressions) {
    const known = getOwn(OPERATORS, operator);
    if (known === undefined)
      throw new SelectorError(`${JSON.stringify(operator)} is not a valid label selector operator`);
    requirements.push(requirement(key, known, [...new Set(values)].sort()));
  }
  return requirements
    .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
    .map(formatRequirement)
    .join(',');
}

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

function requirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  requireLabelKey(key);
  return labelRequirement(key, operator, values);
}
