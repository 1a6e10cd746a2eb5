import { field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import { manyOf, TEXT, TEXTS, type Texts } from '#lib/apiserver/encoding/value-types.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

/** A selector as objects hold one. */
export interface StructuredSelector {
  readonly matchLabels: Texts;
  readonly matchExpressions: readonly MatchExpression[];
}

interface MatchExpression {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const MATCH_EXPRESSION = new MessageType<MatchExpression>({
  fields: {
    key: field(TEXT, { number: 1, of: ({ key }) => key }),
    operator: field(TEXT, { number: 2, of: ({ operator }) => operator }),
    values: field(manyOf(TEXT), { number: 3, isOptional: true, of: ({ values }) => values }),
  },
});

/** `metav1.LabelSelector` */
export const LABEL_SELECTOR = new MessageType<StructuredSelector>({
  fields: {
    matchLabels: field(TEXTS, { number: 1, isOptional: true, of: ({ matchLabels }) => matchLabels }),
    matchExpressions: field(manyOf(MATCH_EXPRESSION), {
      number: 2,
      isOptional: true,
      of: ({ matchExpressions }) => matchExpressions,
    }),
  },
});

const OPERATORS: Readonly<Record<string, string>> = {
  in: 'In',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

/**
 * @returns `undefined` for a selector without requirements
 * @throws {StatusError} 500, as the reference library, for a requirement that has no such form
 */
export function structuredSelector({ requirements }: LabelSelector): StructuredSelector | undefined {
  if (requirements.length === 0) return undefined;
  const matchLabels: [string, string][] = [];
  const matchExpressions: MatchExpression[] = [];
  for (const { key, operator, values } of requirements) {
    if (operator === '=' || operator === '==') {
      matchLabels.push([key, values[0] ?? '']);
      continue;
    }
    const named = OPERATORS[operator];
    if (named === undefined) throw new StatusError(500, '', refusalOf(operator));
    matchExpressions.push({ key, operator: named, values });
  }
  return { matchLabels: Object.fromEntries(matchLabels), matchExpressions };
}

function refusalOf(operator: string): string {
  return operator === '!='
    ? '"!=" is not a valid label selector operator'
    : `"${operator}" isn't supported in label selectors`;
}
