import { z } from 'zod';

const selectorSchema = z.looseObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(
      z.looseObject({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).optional(),
      }),
    )
    .optional(),
});

/** Whether a `metav1.LabelSelector` selects an object by its labels; one that is none selects nothing. */
export function selectsLabels(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  const parsed = selectorSchema.safeParse(selector);
  if (!parsed.success) return false;
  const { matchLabels = {}, matchExpressions = [] } = parsed.data;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => holds(operator, labels[key], values))
  );
}

function holds(
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist',
  value: string | undefined,
  values: readonly string[],
) {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** The selector as queries have it: `app=web,tier in (a,b),!old`. */
export function formatSelector(selector: unknown): string | undefined {
  const parsed = selectorSchema.safeParse(selector);
  if (!parsed.success) return undefined;
  const { matchLabels = {}, matchExpressions = [] } = parsed.data;
  const labels = Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    const list = `(${[...values].sort().join(',')})`;
    const texts = {
      In: `${key} in ${list}`,
      NotIn: `${key} notin ${list}`,
      Exists: key,
      DoesNotExist: `!${key}`,
    };
    return { key, text: texts[operator] };
  });
  return [...labels, ...expressions]
    .sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',');
}
