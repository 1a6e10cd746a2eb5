import { z } from 'zod';

/** Requirements on labels, all of which an object must meet. */
export interface LabelSelector {
  matches(labels: Readonly<Record<string, string>>): boolean;
  readonly isEverything: boolean;
}

type Requirement = LabelSelector['matches'];

type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

/**
 * Parses a label selector: `a=b,c!=d,e,!f,g in (h,i),j notin (k)`.
 *
 * @throws Error for an invalid selector
 */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = splitOutsideParentheses(text).map(parseRequirement);
  return {
    matches: (labels) => requirements.every((isMet) => isMet(labels)),
    isEverything: requirements.length === 0,
  };
}

function splitOutsideParentheses(text: string): string[] {
  if (text.trim() === '') return [];
  const parts: string[] = [];
  let start = 0;
  let isInside = false;
  for (const { 0: mark, index } of text.matchAll(/[(),]/g)) {
    if (mark !== ',') isInside = mark === '(';
    else if (!isInside) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, text.slice(start)].map((part) => part.trim());
}

const KEY = `(?:[a-z0-9.-]+/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?`;
const VALUE = `(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?`;
const SET = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const COMPARISON = new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*(${VALUE})$`);
const PRESENCE = new RegExp(`^(!?)\\s*(${KEY})$`);

function parseRequirement(text: string): Requirement {
  const set = SET.exec(text);
  if (set)
    return requirement(set[1] ?? '', set[2] === 'in' ? 'In' : 'NotIn', (set[3] ?? '').split(',').map(trim));
  const comparison = COMPARISON.exec(text);
  if (comparison) {
    const [, key = '', sign = '', value = ''] = comparison;
    return requirement(key, sign === '!=' ? 'NotIn' : 'In', [value]);
  }
  const presence = PRESENCE.exec(text);
  if (presence) return requirement(presence[2] ?? '', presence[1] ? 'DoesNotExist' : 'Exists', []);
  throw new Error(`unable to parse requirement: found '${text}'`);
}

function trim(text: string): string {
  return text.trim();
}

function requirement(key: string, operator: Operator, values: readonly string[]): Requirement {
  return (labels) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
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
  };
}

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

/** Whether a `metav1.LabelSelector` selects labels; an invalid one selects none. */
export function selectsLabels(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  const parsed = selectorSchema.safeParse(selector);
  if (!parsed.success) return false;
  const { matchLabels = {}, matchExpressions = [] } = parsed.data;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => requirement(key, operator, values)(labels))
  );
}

/** Formats a selector for a query: `app=web,tier in (a,b),!old`. */
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
