import * as z from 'zod';
import type { Decoded } from '#lib/kubernetes/objects/find-wrong-field.ts';
import {
  ATTACH_METADATA,
  AUTHORIZATION,
  BASIC_AUTH,
  DURATION,
  INT_OR_STRING,
  LABEL_SELECTOR,
  LIMIT,
  NAME_ESCAPING_SCHEME,
  NAME_VALIDATION_SCHEME,
  OAUTH2,
  OBJECT_KEY,
  PROXY,
  QUANTITY,
  RELABELINGS,
  SAFE_AUTHORIZATION,
  SCRAPE_LIMITS,
  SCRAPE_PROTOCOL,
  SIGV4,
  SIZE,
  TEXTS,
  TLS_CONFIG,
} from './common-fields.ts';

const SCRAPE_CLASS = z.object({
  name: z.string().min(1),
  default: z.boolean().optional(),
  tlsConfig: TLS_CONFIG.optional(),
  authorization: AUTHORIZATION.optional(),
  relabelings: RELABELINGS,
  metricRelabelings: RELABELINGS,
  fallbackScrapeProtocol: SCRAPE_PROTOCOL.optional(),
  attachMetadata: ATTACH_METADATA.optional(),
});

const API_SERVER_CONFIG = z.object({
  host: z.string(),
  basicAuth: BASIC_AUTH.optional(),
  authorization: AUTHORIZATION.optional(),
  bearerToken: z.string().optional(),
  bearerTokenFile: z.string().optional(),
  tlsConfig: TLS_CONFIG.optional(),
  ...PROXY,
});

const ALERTMANAGER_ENDPOINTS = z.object({
  name: z.string(),
  namespace: z.string().optional(),
  port: INT_OR_STRING,
  scheme: z.string().optional(),
  pathPrefix: z.string().optional(),
  timeout: DURATION.optional(),
  apiVersion: z.enum(['v1', 'V1', 'v2', 'V2']).optional(),
  enableHttp2: z.boolean().optional(),
  tlsConfig: TLS_CONFIG.optional(),
  basicAuth: BASIC_AUTH.optional(),
  authorization: SAFE_AUTHORIZATION.optional(),
  sigv4: SIGV4.optional(),
  bearerTokenFile: z.string().optional(),
  relabelings: RELABELINGS,
  alertRelabelings: RELABELINGS,
  ...PROXY,
});

const REMOTE_STORAGE = {
  url: z.string(),
  name: z.string().optional(),
  remoteTimeout: DURATION.optional(),
  headers: TEXTS.optional(),
  basicAuth: BASIC_AUTH.optional(),
  authorization: AUTHORIZATION.optional(),
  oauth2: OAUTH2.optional(),
  bearerToken: z.string().optional(),
  bearerTokenFile: z.string().optional(),
  tlsConfig: TLS_CONFIG.optional(),
  followRedirects: z.boolean().optional(),
  ...PROXY,
};

const AZURE_AD = z.object({
  cloud: z.string().optional(),
  managedIdentity: z.object({ clientId: z.string().optional() }).optional(),
  oauth: z.object({ clientId: z.string(), clientSecret: OBJECT_KEY, tenantId: z.string() }).optional(),
  sdk: z.object({ tenantId: z.string().optional() }).optional(),
});

const REMOTE_WRITE = z.object({
  ...REMOTE_STORAGE,
  messageVersion: z.enum(['V1.0', 'V2.0']).optional(),
  sendExemplars: z.boolean().optional(),
  sendNativeHistograms: z.boolean().optional(),
  writeRelabelConfigs: RELABELINGS,
  enableHTTP2: z.boolean().optional(),
  roundRobinDNS: z.boolean().optional(),
  sigv4: SIGV4.optional(),
  azureAd: AZURE_AD.optional(),
  queueConfig: z
    .object({
      capacity: z.number().int().optional(),
      minShards: z.number().int().optional(),
      maxShards: z.number().int().optional(),
      maxSamplesPerSend: z.number().int().optional(),
      batchSendDeadline: DURATION.optional(),
      minBackoff: DURATION.optional(),
      maxBackoff: DURATION.optional(),
      retryOnRateLimit: z.boolean().optional(),
      sampleAgeLimit: DURATION.optional(),
    })
    .optional(),
  metadataConfig: z
    .object({
      send: z.boolean().optional(),
      sendInterval: DURATION.optional(),
      maxSamplesPerSend: z.number().int().min(-1).optional(),
    })
    .optional(),
});

const REMOTE_READ = z.object({
  ...REMOTE_STORAGE,
  requiredMatchers: TEXTS.optional(),
  readRecent: z.boolean().optional(),
  filterExternalLabels: z.boolean().optional(),
});

const OTLP = z.object({
  promoteAllResourceAttributes: z.boolean().optional(),
  ignoreResourceAttributes: z.array(z.string()).optional(),
  promoteResourceAttributes: z.array(z.string()).optional(),
  translationStrategy: z
    .enum([
      'NoUTF8EscapingWithSuffixes',
      'UnderscoreEscapingWithSuffixes',
      'NoTranslation',
      'UnderscoreEscapingWithoutSuffixes',
    ])
    .optional(),
  keepIdentifyingResourceAttributes: z.boolean().optional(),
  convertHistogramsToNHCB: z.boolean().optional(),
  promoteScopeMetadata: z.boolean().optional(),
});

const TRACING = z.object({
  endpoint: z.string().min(1),
  clientType: z.enum(['http', 'grpc']).optional(),
  samplingFraction: QUANTITY.optional(),
  insecure: z.boolean().optional(),
  headers: TEXTS.optional(),
  compression: z.enum(['gzip', 'snappy']).optional(),
  timeout: DURATION.optional(),
  tlsConfig: TLS_CONFIG.optional(),
});

/** Fields of a Prometheus from which its configuration is made. */
export const PROMETHEUS_SPEC = z.object({
  version: z.string().optional(),
  shards: z.number().int().optional(),
  paused: z.boolean().optional(),

  serviceMonitorSelector: LABEL_SELECTOR.optional(),
  serviceMonitorNamespaceSelector: LABEL_SELECTOR.optional(),
  podMonitorSelector: LABEL_SELECTOR.optional(),
  podMonitorNamespaceSelector: LABEL_SELECTOR.optional(),
  probeSelector: LABEL_SELECTOR.optional(),
  probeNamespaceSelector: LABEL_SELECTOR.optional(),
  scrapeConfigSelector: LABEL_SELECTOR.optional(),
  scrapeConfigNamespaceSelector: LABEL_SELECTOR.optional(),
  ruleSelector: LABEL_SELECTOR.optional(),
  ruleNamespaceSelector: LABEL_SELECTOR.optional(),
  ignoreNamespaceSelectors: z.boolean().optional(),
  excludedFromEnforcement: z
    .array(
      z.object({
        group: z.string().default('monitoring.coreos.com'),
        resource: z.string(),
        namespace: z.string(),
        name: z.string().optional(),
      }),
    )
    .optional(),

  scrapeInterval: DURATION.default('30s'),
  scrapeTimeout: DURATION.optional(),
  evaluationInterval: DURATION.default('30s'),
  scrapeProtocols: z.array(SCRAPE_PROTOCOL).optional(),
  scrapeClasses: z.array(SCRAPE_CLASS).optional(),
  podTargetLabels: z.array(z.string()).optional(),
  externalLabels: TEXTS.optional(),
  prometheusExternalLabelName: z.string().optional(),
  replicaExternalLabelName: z.string().optional(),
  overrideHonorLabels: z.boolean().optional(),
  overrideHonorTimestamps: z.boolean().optional(),
  enforcedNamespaceLabel: z.string().optional(),
  ...SCRAPE_LIMITS,
  bodySizeLimit: SIZE.optional(),
  enforcedSampleLimit: LIMIT.optional(),
  enforcedTargetLimit: LIMIT.optional(),
  enforcedLabelLimit: LIMIT.optional(),
  enforcedLabelNameLengthLimit: LIMIT.optional(),
  enforcedLabelValueLengthLimit: LIMIT.optional(),
  enforcedKeepDroppedTargets: LIMIT.optional(),
  enforcedBodySizeLimit: SIZE.optional(),
  arbitraryFSAccessThroughSMs: z.object({ deny: z.boolean().optional() }).optional(),
  serviceDiscoveryRole: z.enum(['Endpoints', 'EndpointSlice']).optional(),
  apiserverConfig: API_SERVER_CONFIG.optional(),
  nameValidationScheme: NAME_VALIDATION_SCHEME.optional(),
  nameEscapingScheme: NAME_ESCAPING_SCHEME.optional(),
  convertClassicHistogramsToNHCB: z.boolean().optional(),
  scrapeClassicHistograms: z.boolean().optional(),
  scrapeFailureLogFile: z.string().min(1).optional(),
  queryLogFile: z.string().optional(),
  ruleQueryOffset: DURATION.optional(),
  additionalScrapeConfigs: OBJECT_KEY.optional(),
  additionalAlertRelabelConfigs: OBJECT_KEY.optional(),
  additionalAlertManagerConfigs: OBJECT_KEY.optional(),

  runtime: z.object({ goGC: z.number().int().min(-1).optional() }).optional(),
  exemplars: z.object({ maxSize: z.number().int().optional() }).optional(),
  tsdb: z.object({ outOfOrderTimeWindow: DURATION.optional() }).optional(),
  alerting: z.object({ alertmanagers: z.array(ALERTMANAGER_ENDPOINTS).default([]) }).optional(),
  remoteWrite: z.array(REMOTE_WRITE).optional(),
  remoteRead: z.array(REMOTE_READ).optional(),
  otlp: OTLP.optional(),
  tracingConfig: TRACING.optional(),
});

export type PrometheusSpec = Decoded<typeof PROMETHEUS_SPEC>;
export type ScrapeClass = Decoded<typeof SCRAPE_CLASS>;
export type AlertmanagerEndpoints = Decoded<typeof ALERTMANAGER_ENDPOINTS>;
export type RemoteWrite = Decoded<typeof REMOTE_WRITE>;
export type RemoteRead = Decoded<typeof REMOTE_READ>;
export type AzureAd = Decoded<typeof AZURE_AD>;
