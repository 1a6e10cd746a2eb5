import type { V1LabelSelector } from '@kubernetes/client-node';
import * as z from 'zod';
import type { Wire } from '../wire.ts';
import { goQuote } from './go-quote.ts';
import {
  formatRequirement,
  type LabelOperator,
  type LabelRequirement,
  labelRequirement,
  SelectorError,
} from './label-selector.ts';

const SELECTOR = z.object({
  matchLabels: z.record(z.string(), z.string()).default({}),
  matchExpressions: z
    .array(
      z.object({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).nullable().default([]),
      }),
    )
    .nullable()
    .default([]),
});

/**
 * Formats the selector of a workload for requests to the API server.
 *
 * @returns `undefined` for an invalid one, and for one that would select every pod
 */
export function selectorText(value: unknown): string | undefined {
  const read = SELECTOR.safeParse(value);
  if (!read.success) return undefined;
  const { matchLabels, matchExpressions } = read.data;
  const requirements = [
    ...Object.entries(matchLabels).map(([key, label]) => `${key}=${label}`),
    ...(matchExpressions ?? []).map(({ key, operator, values }) => {
      if (operator === 'Exists') return key;
      if (operator === 'DoesNotExist') return `!${key}`;
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${(values ?? []).join(',')})`;
    }),
  ];
  return requirements.length === 0 ? undefined : requirements.join(',');
}

/**
 * Formats a selector of a metric for requests: sorted by key; empty where there is none.
 *
 * @throws {SelectorError} for an invalid one, with the message of Kubernetes
 */
export function metricSelector(selector: LabelSelectorObject | undefined): string {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const requirements: LabelRequirement[] = Object.entries(matchLabels).map(([key, value]) =>
    labelRequirement(key, '=', [value]),
  );
  for (const { key, operator, values = [] } of matchExpressions) {
    const supported = OPERATORS.get(operator);
    if (supported === undefined)
      throw new SelectorError(`${goQuote(operator)} is not a valid label selector operator`);
    requirements.push(labelRequirement(key, supported, values));
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

/** A label selector in objects. */
export type LabelSelectorObject = Wire<V1LabelSelector>;
