import type { Document } from '#lib/apiserver/encoding/document.ts';
import { absent, documentOf, field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import { ITEMS_FIELD, LIST_META } from '#lib/apiserver/encoding/object-meta.ts';
import { text } from '#lib/apiserver/encoding/schema.ts';
import { manyOf, orNull, TEXT } from '#lib/apiserver/encoding/value-types.ts';
import type { ObjectValue } from '#lib/collection/metrics-provider.ts';
import { LABEL_SELECTOR, type StructuredSelector } from './structured-selector.ts';
import { VALUE_FIELDS } from './value-fields.ts';

/** What a list of values is made of. */
export interface MetricValues {
  /** `custom.metrics.k8s.io/v1beta1` or `…/v1beta2`. */
  readonly apiVersion: string;
  readonly metric: string;
  /** By which the metric was asked for. */
  readonly selector: StructuredSelector | undefined;
  readonly values: readonly ObjectValue[];
}

/** `MetricValueList`: values of one metric, of several objects. */
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
    // The reference library writes the core group's version with a slash before it, and so do we.
    apiVersion: field(TEXT, { number: 5, of: ({ group, version }) => `${group}/${version}` }),
    resourceVersion: absent(6, text(''), ''),
    fieldPath: absent(7, text(''), ''),
  },
});

const describedObject = field(OBJECT_REFERENCE, { number: 1, of: ({ object }: MetricValueItem) => object });
const selectorField = (number: number) =>
  field(orNull(LABEL_SELECTOR), { number, of: ({ selector }: MetricValueItem) => selector });
const nameField = (number: number) => field(TEXT, { number, of: ({ metric }: MetricValueItem) => metric });

const V1BETA1_LIST = listOf(
  new MessageType<MetricValueItem>({
    fields: { describedObject, metricName: nameField(2), ...VALUE_FIELDS, selector: selectorField(6) },
  }),
);

const METRIC_IDENTIFIER = new MessageType<MetricValueItem>({
  fields: { name: nameField(1), selector: selectorField(2) },
});

const { timestamp, window: windowSeconds, value } = VALUE_FIELDS;

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
