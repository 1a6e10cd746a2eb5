import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

/** A selector as objects hold one: `metav1.LabelSelector`. */
export interface StructuredSelector {
  readonly matchLabels: readonly (readonly [string, string])[];
  readonly matchExpressions: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values: readonly string[];
  }[];
}

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
  const [matchLabels, matchExpressions]: [
    [string, string][],
    StructuredSelector['matchExpressions'][number][],
  ] = [[], []];
  for (const { key, operator, values } of requirements) {
    if (operator === '=' || operator === '==') {
      matchLabels.push([key, values[0] ?? '']);
      continue;
    }
    const named = OPERATORS[operator];
    if (named === undefined) throw new StatusError(500, '', refusalOf(operator));
    matchExpressions.push({ key, operator: named, values });
  }
  return { matchLabels, matchExpressions };
}

export function selectorFields({ matchLabels, matchExpressions }: StructuredSelector): JsonObject {
  return {
    ...(matchLabels.length > 0 && { matchLabels: Object.fromEntries(matchLabels) }),
    ...(matchExpressions.length > 0 && {
      matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
        key,
        operator,
        ...(values.length > 0 && { values: [...values] }),
      })),
    }),
  };
}

/** Writes the fields of a `LabelSelector` message. */
export function writeSelector(
  message: ProtobufWriter,
  { matchLabels, matchExpressions }: StructuredSelector,
): void {
  for (const [key, value] of matchLabels) {
    message.message(1, () => {
      message.string(1, key);
      message.string(2, value);
    });
  }
  for (const { key, operator, values } of matchExpressions) {
    message.message(2, () => {
      message.string(1, key);
      message.string(2, operator);
      for (const value of values) message.string(3, value);
    });
  }
}

function refusalOf(operator: string): string {
  return operator === '!='
    ? '"!=" is not a valid label selector operator'
    : `"${operator}" isn't supported in label selectors`;
}
