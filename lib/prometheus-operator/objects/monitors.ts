import * as z from 'zod';
import type { Decoded } from '#lib/kubernetes/objects/find-wrong-field.ts';
import {
  ATTACH_METADATA,
  CLIENT_AUTHENTICATION,
  DURATION,
  INT_OR_STRING,
  LABEL_SELECTOR,
  NAMESPACE_SELECTOR,
  OBJECT_KEY,
  PROXY,
  RELABELINGS,
  SAFE_TLS_CONFIG,
  SCHEME,
  SCRAPE_SETTINGS,
  SIZE,
  TLS_CONFIG,
} from './common-fields.ts';

const ENDPOINT = {
  port: z.string().optional(),
  targetPort: INT_OR_STRING.optional(),
  path: z.string().optional(),
  scheme: SCHEME.optional(),
  params: z.record(z.string(), z.array(z.string())).optional(),
  interval: DURATION.optional(),
  scrapeTimeout: DURATION.optional(),
  honorLabels: z.boolean().optional(),
  honorTimestamps: z.boolean().optional(),
  trackTimestampsStaleness: z.boolean().optional(),
  filterRunning: z.boolean().optional(),
  relabelings: RELABELINGS,
  metricRelabelings: RELABELINGS,
  followRedirects: z.boolean().optional(),
  enableHttp2: z.boolean().optional(),
  bearerTokenSecret: OBJECT_KEY.optional(),
  ...CLIENT_AUTHENTICATION,
  ...PROXY,
};

const MONITOR = {
  selector: LABEL_SELECTOR,
  namespaceSelector: NAMESPACE_SELECTOR.optional(),
  selectorMechanism: z.enum(['RelabelConfig', 'RoleSelector']).optional(),
  jobLabel: z.string().optional(),
  podTargetLabels: z.array(z.string()).optional(),
  attachMetadata: ATTACH_METADATA.optional(),
  bodySizeLimit: SIZE.optional(),
  ...SCRAPE_SETTINGS,
};

const SERVICE_MONITOR_ENDPOINT = z.object({
  ...ENDPOINT,
  tlsConfig: TLS_CONFIG.optional(),
  bearerTokenFile: z.string().optional(),
});

/** `spec` of a ServiceMonitor. */
export const SERVICE_MONITOR_SPEC = z.object({
  ...MONITOR,
  endpoints: z.array(SERVICE_MONITOR_ENDPOINT),
  targetLabels: z.array(z.string()).optional(),
  serviceDiscoveryRole: z.enum(['Endpoints', 'EndpointSlice']).optional(),
});

const POD_MONITOR_ENDPOINT = z.object({
  ...ENDPOINT,
  portNumber: z.number().int().min(1).max(65_535).optional(),
  tlsConfig: SAFE_TLS_CONFIG.optional(),
});

/** `spec` of a PodMonitor. */
export const POD_MONITOR_SPEC = z.object({ ...MONITOR, podMetricsEndpoints: z.array(POD_MONITOR_ENDPOINT) });

export type ServiceMonitorSpec = Decoded<typeof SERVICE_MONITOR_SPEC>;
export type PodMonitorSpec = Decoded<typeof POD_MONITOR_SPEC>;
export type ServiceMonitorEndpoint = Decoded<typeof SERVICE_MONITOR_ENDPOINT>;
export type PodMonitorEndpoint = Decoded<typeof POD_MONITOR_ENDPOINT>;

/** `spec` of a Probe. */
export const PROBE_SPEC = z.object({
  prober: z.object({
    url: z.string().min(1),
    path: z.string().default('/probe'),
    scheme: SCHEME.optional(),
    ...PROXY,
  }),
  module: z.string().optional(),
  params: z
    .array(z.object({ name: z.string().min(1), values: z.array(z.string()).min(1).optional() }))
    .optional(),
  jobName: z.string().optional(),
  interval: DURATION.optional(),
  scrapeTimeout: DURATION.optional(),
  targets: z
    .object({
      staticConfig: z
        .object({
          static: z.array(z.string()).optional(),
          labels: z.record(z.string(), z.string()).optional(),
          relabelingConfigs: RELABELINGS,
        })
        .optional(),
      ingress: z
        .object({
          selector: LABEL_SELECTOR.optional(),
          namespaceSelector: NAMESPACE_SELECTOR.optional(),
          relabelingConfigs: RELABELINGS,
        })
        .optional(),
    })
    .optional(),
  metricRelabelings: RELABELINGS,
  tlsConfig: SAFE_TLS_CONFIG.optional(),
  bearerTokenSecret: OBJECT_KEY.optional(),
  ...CLIENT_AUTHENTICATION,
  ...SCRAPE_SETTINGS,
});
export type ProbeSpec = Decoded<typeof PROBE_SPEC>;
