import type { Document } from '#lib/apiserver/encoding/document.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { ITEMS_FIELD, writeListMeta } from '#lib/apiserver/objects/list-meta.ts';
import type { ObjectValue } from '#lib/collection/metrics-provider.ts';
import { type StructuredSelector, selectorFields, writeSelector } from './structured-selector.ts';
import { valueFields, writeValueFields } from './value-fields.ts';

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
  const isV1 = apiVersion.endsWith('/v1beta1');
  const selected = selector ? selectorFields(selector) : null;
  return {
    apiVersion,
    kind: 'MetricValueList',
    fields: () => ({
      metadata: {},
      items: values.map((value) =>
        isV1
          ? {
              describedObject: objectFields(value),
              metricName: metric,
              ...valueFields(value, 'window'),
              selector: selected,
            }
          : {
              describedObject: objectFields(value),
              metric: { name: metric, selector: selected },
              ...valueFields(value, 'windowSeconds'),
            },
      ),
    }),
    writeFields: (message) => {
      message.message(1, () => writeListMeta(message, {}));
      for (const value of values) {
        message.message(ITEMS_FIELD, () => {
          message.message(1, () => writeObject(message, value));
          if (isV1) message.string(2, metric);
          else message.message(2, () => writeIdentifier(message, metric, selector));
          writeValueFields(message, value);
          if (isV1 && selector) message.message(6, () => writeSelector(message, selector));
        });
      }
    },
  };
}

function writeIdentifier(
  message: ProtobufWriter,
  metric: string,
  selector: StructuredSelector | undefined,
): void {
  message.string(1, metric);
  if (selector) message.message(2, () => writeSelector(message, selector));
}

/** The reference library writes the core group's version with a slash before it, and so do we. */
function apiVersionOf({ object: { group, version } }: ObjectValue): string {
  return `${group}/${version}`;
}

function objectFields(value: ObjectValue): JsonObject {
  const { kind, namespace, name } = value.object;
  return { kind, ...(namespace && { namespace }), name, apiVersion: apiVersionOf(value) };
}

function writeObject(message: ProtobufWriter, value: ObjectValue): void {
  const { kind, namespace, name } = value.object;
  message.string(1, kind);
  message.string(2, namespace);
  message.string(3, name);
  message.string(4, ''); // uid
  message.string(5, apiVersionOf(value));
  message.string(6, ''); // resourceVersion
  message.string(7, ''); // fieldPath
}
