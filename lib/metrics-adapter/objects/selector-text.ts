import * as z from 'zod/mini';

const SELECTOR = z.object({
  matchLabels: z._default(z.record(z.string(), z.string()), {}),
  matchExpressions: z._default(
    z.nullable(
      z.array(
        z.object({
          key: z.string(),
          operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
          values: z._default(z.nullable(z.array(z.string())), []),
        }),
      ),
    ),
    [],
  ),
});

/**
 * Writes the selector of a workload as one text, as the API server takes it.
 *
 * @returns `undefined` for what is none, and for one that would select every pod
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
