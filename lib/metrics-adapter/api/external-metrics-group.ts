import type { Document } from '#lib/apiserver/encoding/document.ts';
import { documentOf, field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import { ITEMS_FIELD, LIST_META } from '#lib/apiserver/encoding/object-meta.ts';
import { manyOf, orNull, TEXT, TEXTS } from '#lib/apiserver/encoding/value-types.ts';
import { notSupported } from '#lib/apiserver/http/status-error.ts';
import type { ApiGroup, DocumentResource } from '#lib/apiserver/resources/api-group.ts';
import type { ExternalMetricsProvider, ExternalValue } from '#lib/collection/metrics-provider.ts';
import { EXTERNAL_METRIC_PATHS, EXTERNAL_SCHEMAS } from './metric-schemas.ts';
import { noSuchMetric, ofSameArray, VALUE_FIELDS } from './metric-value-list.ts';

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
        described: EXTERNAL_METRIC_PATHS,
        schemas: EXTERNAL_SCHEMAS,
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
  return { type: 'document', ...name };
}

function listOf(values: readonly ExternalValue[]): Document {
  return documentOf(values, EXTERNAL_VALUE_LIST, { kind: KIND, apiVersion: `${GROUP}/${VERSION}` });
}

const EXTERNAL_VALUE = new MessageType<ExternalValue>({
  fields: {
    metricName: field(TEXT, { number: 1, of: ({ metric }) => metric }),
    metricLabels: field(orNull(TEXTS), { number: 2, of: ({ labels = null }) => labels }),
    ...VALUE_FIELDS,
  },
});

const EXTERNAL_VALUE_LIST = new MessageType<readonly ExternalValue[]>({
  fields: {
    metadata: field(LIST_META, { number: 1, of: () => ({}) }),
    items: field(manyOf(EXTERNAL_VALUE), { number: ITEMS_FIELD, of: (values) => values }),
  },
});
