import * as z from 'zod';
import type { Decoded } from '#lib/kubernetes/objects/find-wrong-field.ts';
import {
  ATTACH_METADATA,
  CLIENT_AUTHENTICATION,
  DURATION,
  NAME_ESCAPING_SCHEME,
  NAME_VALIDATION_SCHEME,
  OBJECT_KEY,
  PROXY,
  RELABELINGS,
  SAFE_TLS_CONFIG,
  SCHEME,
  SCRAPE_SETTINGS,
  TEXTS,
} from './common-fields.ts';

/** How a discovery reaches its server. */
const DISCOVERY_CLIENT = {
  ...CLIENT_AUTHENTICATION,
  ...PROXY,
  tlsConfig: SAFE_TLS_CONFIG.optional(),
  followRedirects: z.boolean().optional(),
  enableHTTP2: z.boolean().optional(),
};

const KUBERNETES_ROLE = z.enum(['Pod', 'Endpoints', 'Ingress', 'Service', 'Node', 'EndpointSlice']);

const KUBERNETES_DISCOVERY = z.object({
  ...DISCOVERY_CLIENT,
  role: KUBERNETES_ROLE,
  apiServer: z.string().optional(),
  namespaces: z
    .object({ ownNamespace: z.boolean().optional(), names: z.array(z.string()).optional() })
    .optional(),
  selectors: z
    .array(z.object({ role: KUBERNETES_ROLE, label: z.string().optional(), field: z.string().optional() }))
    .optional(),
  attachMetadata: ATTACH_METADATA.optional(),
});

const HTTP_DISCOVERY = z.object({
  ...DISCOVERY_CLIENT,
  url: z.string().regex(/^http(s)?:\/\/.+$/, 'must be a URL of http or https'),
  refreshInterval: DURATION.optional(),
});

const CONSUL_DISCOVERY = z.object({
  ...DISCOVERY_CLIENT,
  server: z.string().min(1),
  pathPrefix: z.string().optional(),
  tokenRef: OBJECT_KEY.optional(),
  datacenter: z.string().optional(),
  namespace: z.string().optional(),
  partition: z.string().optional(),
  scheme: SCHEME.optional(),
  services: z.array(z.string()).optional(),
  tags: z.array(z.string()).optional(),
  tagSeparator: z.string().optional(),
  nodeMeta: TEXTS.optional(),
  filter: z.string().optional(),
  allowStale: z.boolean().optional(),
  refreshInterval: DURATION.optional(),
});

const DNS_DISCOVERY = z.object({
  names: z.array(z.string().min(1)).min(1),
  refreshInterval: DURATION.optional(),
  type: z.enum(['A', 'AAAA', 'MX', 'NS', 'SRV']).optional(),
  port: z.number().int().min(0).max(65_535).optional(),
});

const FILE_DISCOVERY = z.object({
  files: z
    .array(
      z
        .string()
        .regex(
          /^[^*]*(\*[^/]*)?\.(json|yml|yaml|JSON|YML|YAML)$/,
          'must be a path that ends in .json, .yml or .yaml, with at most one * in its last part',
        ),
    )
    .min(1),
  refreshInterval: DURATION.optional(),
});

const STATIC_TARGETS = z.object({ targets: z.array(z.string()).min(1), labels: TEXTS.optional() });

/** Discoveries that this program does not configure: an object with one of them is refused. */
export const UNSUPPORTED_DISCOVERIES: readonly string[] = [
  ...['azureSDConfigs', 'digitalOceanSDConfigs', 'dockerSDConfigs', 'dockerSwarmSDConfigs', 'ec2SDConfigs'],
  ...['eurekaSDConfigs', 'gceSDConfigs', 'hetznerSDConfigs', 'ionosSDConfigs', 'kumaSDConfigs'],
  ...['lightSailSDConfigs', 'linodeSDConfigs', 'nomadSDConfigs', 'openstackSDConfigs', 'ovhcloudSDConfigs'],
  ...['puppetDBSDConfigs', 'scalewaySDConfigs'],
];

/** `spec` of a ScrapeConfig. */
export const SCRAPE_CONFIG_SPEC = z.looseObject({
  jobName: z.string().optional(),
  staticConfigs: z.array(STATIC_TARGETS).optional(),
  fileSDConfigs: z.array(FILE_DISCOVERY).optional(),
  httpSDConfigs: z.array(HTTP_DISCOVERY).optional(),
  kubernetesSDConfigs: z.array(KUBERNETES_DISCOVERY).optional(),
  consulSDConfigs: z.array(CONSUL_DISCOVERY).optional(),
  dnsSDConfigs: z.array(DNS_DISCOVERY).optional(),
  relabelings: RELABELINGS,
  metricRelabelings: RELABELINGS,
  metricsPath: z.string().optional(),
  scheme: SCHEME.optional(),
  params: z.record(z.string(), z.array(z.string())).optional(),
  scrapeInterval: DURATION.optional(),
  scrapeTimeout: DURATION.optional(),
  honorLabels: z.boolean().optional(),
  honorTimestamps: z.boolean().optional(),
  trackTimestampsStaleness: z.boolean().optional(),
  enableCompression: z.boolean().optional(),
  enableHTTP2: z.boolean().optional(),
  nameValidationScheme: NAME_VALIDATION_SCHEME.optional(),
  nameEscapingScheme: NAME_ESCAPING_SCHEME.optional(),
  tlsConfig: SAFE_TLS_CONFIG.optional(),
  ...CLIENT_AUTHENTICATION,
  ...PROXY,
  ...SCRAPE_SETTINGS,
});
export type ScrapeConfigSpec = Decoded<typeof SCRAPE_CONFIG_SPEC>;
export type KubernetesDiscovery = Decoded<typeof KUBERNETES_DISCOVERY>;
export type ConsulDiscovery = Decoded<typeof CONSUL_DISCOVERY>;
export type HttpDiscovery = Decoded<typeof HTTP_DISCOVERY>;
export type DnsDiscovery = Decoded<typeof DNS_DISCOVERY>;
