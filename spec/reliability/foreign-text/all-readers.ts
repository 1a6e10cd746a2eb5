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

/** Every reader of foreign text. */
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

/** Files whose exports are named like readers, and why they are exempt: the text is not foreign, or their spec has the shapes. */
export const NO_READERS: Readonly<Record<string, string>> = {
  'decide.ts': 'caches what the reader of selectors, which is in the table, reads',
  'read-api-service.ts': 'checks the fields of an object that is parsed',
  'read-bounded-file.ts': 'concatenates the bytes of a file within a bound, and parses nothing',
  'explain-hpa.ts': 'hands its arguments to the reader of flags, which is in the table',
  'scenario.ts': 'reads the load that a decision is explained with, of bounded length and rows, in no server',
  'read-files.ts':
    'hands files of a command that serves no clients to the reader of YAML, which is in the table',
  'render-options.ts': 'hands its arguments to the reader of flags, which is in the table',
  'additional-configuration.ts': 'hands YAML to its reader, which is in the table',
  'read-request.ts': 'hands path and query to the readers of the table',
  'metric-reader.ts': 'asks for metrics; what comes back is read by the readers of the table',
  'target-scales.ts': 'asks for a scale by a client that reads it',
  'metric-collector.ts': 'hands settings of bounded length to the readers of the table, once for each HPA',
  'read-json.ts': 'hands JSON to the reader of the table and checks its form',
  'config-map-parts.ts': 'checks the fields of a ConfigMap that is parsed',
  'find-wrong-field.ts': 'checks fields of an object that is parsed, by schemas of the readers of the table',
  'kubernetes-object.ts': 'is JSON.parse, for readers of bounded length',
  'load-cluster-access.ts': 'trims the name of a namespace, which the kubelet mounts',
  'sample.ts': 'parses a number of at most 400 characters; its spec has longer ones',
  'redis-length.ts': 'sends commands; the reader of Redis, which is in the table, reads the replies',
  'object-fields.ts': 'takes fields of a form, of at most 1,024 characters each',
  'excluded-dates.ts': 'parses at most 732 dates of at most 256 characters; its spec measures them',
  'planned-jobs.ts': 'hands schedules and dates to their readers in time slices',
  'validate-scaled-object.ts': 'parses an annotation by an anchored pattern of ten digits',
  'job-state.ts': 'picks fields of Jobs and Pods that are parsed',
  'annotations.ts': 'picks annotations of an object that is parsed',
  'self-signed-certificate.ts': 'reads bytes, up to its own bound, and does not look into them',
};
