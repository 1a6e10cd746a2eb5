import type { ApiGroup, DocumentResource } from '#lib/apiserver/api-group.ts';
import type { Document } from '#lib/apiserver/encoding/document.ts';
import { notSupported } from '#lib/apiserver/http/failures.ts';
import { ITEMS_FIELD, writeListMeta } from '#lib/apiserver/objects/list-meta.ts';
import type { ExternalMetricsProvider, ExternalValue } from '#lib/collection/metrics-provider.ts';
import { noSuchMetric } from './metric-not-found.ts';
import { ofSameArray } from './of-same-array.ts';
import { valueFields, writeValueFields } from './value-fields.ts';

const GROUP = 'external.metrics.k8s.io';
const VERSION = 'v1beta1';
const KIND = 'ExternalMetricValueList';

/** `external.metrics.k8s.io`: values that belong to no object, but to a namespace. */
export function externalMetricsGroup(provider: ExternalMetricsProvider): ApiGroup {
  const resourcesOf = ofSameArray((metrics: readonly string[]) => metrics.map(resourceOf));
  return {
    name: GROUP,
    versions: [
      {
        version: VERSION,
        resources: () => resourcesOf(provider.metrics()),
        route: (segments) => {
          const [namespaces, namespace, metric, ...rest] = segments;
          if (namespaces !== 'namespaces' || namespace === undefined || !metric || rest.length > 0)
            return undefined;
          return {
            read: ({ labelSelector: selector, isWatch }) => {
              if (isWatch) throw notSupported({ group: GROUP, resource: '*' }, 'watch');
              const values = provider.values(namespace, { metric, selector });
              if (!values) throw noSuchMetric(metric, 'namespaces');
              return listOf(values);
            },
          };
        },
      },
    ],
  };
}

function resourceOf(metric: string): DocumentResource {
  const name = { name: metric, singularName: '', kind: KIND, isNamespaced: true };
  return { type: 'document', ...name, read: () => undefined };
}

function listOf(values: readonly ExternalValue[]): Document {
  return {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: KIND,
    fields: () => ({
      metadata: {},
      items: values.map((value) => ({
        metricName: value.metric,
        metricLabels: value.labels ? { ...Object.fromEntries(sorted(value.labels)) } : null,
        ...valueFields(value, 'window'),
      })),
    }),
    writeFields: (message) => {
      message.message(1, () => writeListMeta(message, {}));
      for (const value of values) {
        message.message(ITEMS_FIELD, () => {
          message.string(1, value.metric);
          for (const [key, label] of sorted(value.labels ?? {})) {
            message.message(2, () => {
              message.string(1, key);
              message.string(2, label);
            });
          }
          writeValueFields(message, value);
        });
      }
    },
  };
}

function sorted(labels: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
}
