import type { Document } from '#lib/apiserver/encoding/document.ts';
import {
  absent,
  documentOf,
  field,
  type MessageField,
  MessageType,
} from '#lib/apiserver/encoding/message-type.ts';
import { ITEMS_FIELD, LIST_META } from '#lib/apiserver/encoding/object-meta.ts';
import { text } from '#lib/apiserver/encoding/schema.ts';
import {
  manyOf,
  orNull,
  QUANTITY,
  TEXT,
  TEXTS,
  type Texts,
  TIME,
  WHOLE_NUMBER,
} from '#lib/apiserver/encoding/value-types.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import type { MetricValue, ObjectValue } from '#lib/collection/metrics-provider.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

interface MetricValues {
  /** `custom.metrics.k8s.io/v1beta1` or `…/v1beta2`. */
  readonly apiVersion: string;
  readonly metric: string;
  /** Of the request. */
  readonly selector: StructuredSelector | undefined;
  readonly values: readonly ObjectValue[];
}

/** `MetricValueList`: values of one metric of several objects. */
export function metricValueList({ apiVersion, metric, selector, values }: MetricValues): Document {
  const type = apiVersion.endsWith('/v1beta1') ? V1BETA1_LIST : V1BETA2_LIST;
  const items = values.map((value) => ({ ...value, metric, selector: selector ?? null }));
  return documentOf(items, type, { kind: 'MetricValueList', apiVersion });
}

interface MetricValueItem extends ObjectValue {
  readonly metric: string;
  readonly selector: StructuredSelector | null;
}

/** `v1.ObjectReference` */
const OBJECT_REFERENCE = new MessageType<ObjectValue['object']>({
  fields: {
    kind: field(TEXT, { number: 1, of: ({ kind }) => kind }),
    namespace: field(TEXT, { number: 2, isOptional: true, of: ({ namespace }) => namespace }),
    name: field(TEXT, { number: 3, of: ({ name }) => name }),
    uid: absent(4, text(''), ''),
    // The reference library writes the core group's version with a leading slash, and so do we.
    apiVersion: field(TEXT, { number: 5, of: ({ group, version }) => `${group}/${version}` }),
    resourceVersion: absent(6, text(''), ''),
    fieldPath: absent(7, text(''), ''),
  },
});

const describedObject = field(OBJECT_REFERENCE, { number: 1, of: ({ object }: MetricValueItem) => object });
const selectorField = (number: number) =>
  field(orNull(LABEL_SELECTOR), { number, of: ({ selector }: MetricValueItem) => selector });
const nameField = (number: number) => field(TEXT, { number, of: ({ metric }: MetricValueItem) => metric });

/** Fields of the values of all groups; JSON has `null` for an unknown time. */
export const VALUE_FIELDS: Readonly<Record<'timestamp' | 'window' | 'value', MessageField<MetricValue>>> = {
  timestamp: field(TIME, { number: 3, of: ({ takenAtMs = null }) => takenAtMs }),
  window: field(WHOLE_NUMBER, { number: 4, of: ({ windowSeconds }) => windowSeconds }),
  value: field(QUANTITY, { number: 5, of: ({ value }) => value }),
};

const { timestamp, window: windowSeconds, value } = VALUE_FIELDS;

const MATCH_EXPRESSION = new MessageType<MatchExpression>({
  fields: {
    key: field(TEXT, { number: 1, of: ({ key }) => key }),
    operator: field(TEXT, { number: 2, of: ({ operator }) => operator }),
    values: field(manyOf(TEXT), { number: 3, isOptional: true, of: ({ values }) => values }),
  },
});

/** `metav1.LabelSelector` */
const LABEL_SELECTOR = new MessageType<StructuredSelector>({
  fields: {
    matchLabels: field(TEXTS, { number: 1, isOptional: true, of: ({ matchLabels }) => matchLabels }),
    matchExpressions: field(manyOf(MATCH_EXPRESSION), {
      number: 2,
      isOptional: true,
      of: ({ matchExpressions }) => matchExpressions,
    }),
  },
});

const V1BETA1_LIST = listOf(
  new MessageType<MetricValueItem>({
    fields: { describedObject, metricName: nameField(2), ...VALUE_FIELDS, selector: selectorField(6) },
  }),
);

const METRIC_IDENTIFIER = new MessageType<MetricValueItem>({
  fields: { name: nameField(1), selector: selectorField(2) },
});

const V1BETA2_LIST = listOf(
  new MessageType<MetricValueItem>({
    fields: {
      describedObject,
      metric: field(METRIC_IDENTIFIER, { number: 2, of: (item) => item }),
      timestamp,
      windowSeconds,
      value,
    },
  }),
);

function listOf(item: MessageType<MetricValueItem>): MessageType<readonly MetricValueItem[]> {
  return new MessageType({
    fields: {
      metadata: field(LIST_META, { number: 1, of: () => ({}) }),
      items: field(manyOf(item), { number: ITEMS_FIELD, of: (items) => items }),
    },
  });
}

/** A selector in objects. */
interface StructuredSelector {
  readonly matchLabels: Texts;
  readonly matchExpressions: readonly MatchExpression[];
}

interface MatchExpression {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const OPERATORS: Readonly<Record<string, string>> = {
  in: 'In',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

/**
 * @returns `undefined` for a selector without requirements
 * @throws {StatusError} 500, as in the reference library, for a requirement that has no such form
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

/** Memoizes the result for the latest array: discovery is cached by it. */
export function ofSameArray<T, Result>(
  make: (array: readonly T[]) => Result,
): (array: readonly T[]) => Result {
  let last: { readonly array: readonly T[]; readonly made: Result } | undefined;
  return (array) => {
    if (last?.array !== array) last = { array, made: make(array) };
    return last.made;
  };
}

/**
 * 404 for a metric, in the words of the reference library.
 *
 * @param of the resource, followed by the object's name if there is one
 */
export function noSuchMetric(metric: string, of: string, selector = ''): StatusError {
  const chosen = selector === '' ? '' : ` with selector ${selector}`;
  return new StatusError(
    404,
    'NotFound',
    `the server could not find the metric ${metric} for ${of}${chosen}`,
  );
}
