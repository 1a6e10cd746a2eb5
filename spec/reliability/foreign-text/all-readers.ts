import { CERTIFICATE_READER } from './certificate-reader.ts';
import { DNS_READER } from './dns-reader.ts';
import type { ForeignReader } from './foreign-reader.ts';
import { REQUEST_READERS } from './request-readers.ts';
import {
  CLUSTER_READERS,
  KUBELET_READERS,
  METRIC_SOURCE_READERS,
  OPERATOR_READERS,
} from './source-readers.ts';
import { TRIGGER_READERS } from './trigger-readers.ts';

/** Everything that reads foreign text. */
export const FOREIGN_READERS: readonly ForeignReader[] = [
  ...REQUEST_READERS,
  CERTIFICATE_READER,
  DNS_READER,
  ...KUBELET_READERS,
  ...CLUSTER_READERS,
  ...METRIC_SOURCE_READERS,
  ...TRIGGER_READERS,
  ...OPERATOR_READERS,
];

/** Files that export something called like a reader, and why it is none of foreign text, or whose spec has its shapes. */
export const NO_READERS: Readonly<Record<string, string>> = {
  'load-curve.ts':
    'reads a load that somebody explains a decision to themselves with, of bounded rows, in no server',
  'explain-hpa-options.ts': 'hands its arguments to the reader of flags, which is in the table',
  'scenario.ts': 'reads the scenario of the same, of bounded length',
  'read-request.ts': 'hands path and query to the readers of the table',
  'metric-reader.ts': 'asks for metrics; what comes back is read by the readers of the table',
  'read-metrics.ts': 'asks for all metrics of an HPA, each by the reader before',
  'target-scale.ts': 'asks for a scale by a client that reads it',
  'read-settings.ts': 'hands settings of bounded length to the readers of the table, once for each HPA',
  'read-json-as.ts': 'hands JSON to the reader of the table and checks its form',
  'parse-json.ts': 'is JSON.parse, for readers of bounded length',
  'in-cluster-source.ts': 'trims the name of a namespace, which the kubelet mounts',
  'own-files.ts': 'reads bytes, up to its own bound, and does not look into them',
};
