import * as z from 'zod';
import type { Decoded } from '#lib/kubernetes/objects/find-wrong-field.ts';

// Fields that several kinds of monitoring.coreos.com share. Fields that are not here are ignored, as the API server prunes them.

const PROMETHEUS_DURATION =
  /^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$/;
const BYTE_SIZE = /^(0|([0-9]*[.])?[0-9]+((K|M|G|T|E|P)i?)?B)?$/;

/** A duration as Prometheus writes it, such as `1m30s`; empty counts as absent. */
export const DURATION = z.string().regex(PROMETHEUS_DURATION, 'must be a duration, such as 1m30s');
/** An amount as in `1MB` or `2MiB`; empty counts as absent. */
export const SIZE = z.string().regex(BYTE_SIZE, 'must be a size, such as 2MiB');
/** A number of things, 0 for no limit. */
export const LIMIT = z.number().int().min(0);
/** A quantity that is written as a number. */
export const QUANTITY = z.union([z.string(), z.number()]);
export const INT_OR_STRING = z.union([z.number().int(), z.string()]);
export const TEXTS = z.record(z.string(), z.string());

export const SCHEME = z.enum(['http', 'https', 'HTTP', 'HTTPS']);
export const SCRAPE_PROTOCOL = z.enum([
  ...(['PrometheusProto', 'OpenMetricsText0.0.1', 'OpenMetricsText1.0.0'] as const),
  ...(['PrometheusText0.0.4', 'PrometheusText1.0.0'] as const),
]);
export const NAME_VALIDATION_SCHEME = z.enum(['UTF8', 'Legacy']);
export const NAME_ESCAPING_SCHEME = z.enum(['AllowUTF8', 'Underscores', 'Dots', 'Values']);

/** A key of a Secret or ConfigMap in the namespace of the object. */
export const OBJECT_KEY = z.object({
  name: z.string().default(''),
  key: z.string(),
  optional: z.boolean().optional(),
});
export type ObjectKey = Decoded<typeof OBJECT_KEY>;

const SECRET_OR_CONFIG_MAP = z.object({ secret: OBJECT_KEY.optional(), configMap: OBJECT_KEY.optional() });
export type SecretOrConfigMap = Decoded<typeof SECRET_OR_CONFIG_MAP>;

const TLS_VERSION = z.enum(['TLS10', 'TLS11', 'TLS12', 'TLS13']);

/** TLS whose certificates are in Secrets and ConfigMaps. */
export const SAFE_TLS_CONFIG = z.object({
  ca: SECRET_OR_CONFIG_MAP.optional(),
  cert: SECRET_OR_CONFIG_MAP.optional(),
  keySecret: OBJECT_KEY.optional(),
  serverName: z.string().optional(),
  insecureSkipVerify: z.boolean().optional(),
  minVersion: TLS_VERSION.optional(),
  maxVersion: TLS_VERSION.optional(),
});

/** TLS whose certificates may also be files of Prometheus' pod. */
export const TLS_CONFIG = SAFE_TLS_CONFIG.extend({
  caFile: z.string().optional(),
  certFile: z.string().optional(),
  keyFile: z.string().optional(),
});
export type TlsConfig = Decoded<typeof TLS_CONFIG>;

export const BASIC_AUTH = z.object({ username: OBJECT_KEY.optional(), password: OBJECT_KEY.optional() });

export const SAFE_AUTHORIZATION = z.object({
  type: z.string().optional(),
  credentials: OBJECT_KEY.optional(),
});
/** Authorization whose credentials may also be a file of Prometheus' pod. */
export const AUTHORIZATION = SAFE_AUTHORIZATION.extend({ credentialsFile: z.string().optional() });
export type Authorization = Decoded<typeof AUTHORIZATION>;

export const PROXY = {
  proxyUrl: z
    .string()
    .regex(/^(http|https|socks5):\/\/.+$/, 'must be a URL of http, https or socks5')
    .optional(),
  noProxy: z.string().optional(),
  proxyFromEnvironment: z.boolean().optional(),
  proxyConnectHeader: z.record(z.string(), z.array(OBJECT_KEY)).optional(),
};
const PROXY_CONFIG = z.object(PROXY);
export type ProxyConfig = Decoded<typeof PROXY_CONFIG>;

export const OAUTH2 = z.object({
  clientId: SECRET_OR_CONFIG_MAP,
  clientSecret: OBJECT_KEY,
  tokenUrl: z.string().min(1),
  scopes: z.array(z.string()).optional(),
  endpointParams: TEXTS.optional(),
  tlsConfig: SAFE_TLS_CONFIG.optional(),
  ...PROXY,
});
export type OAuth2 = Decoded<typeof OAUTH2>;

export const SIGV4 = z.object({
  region: z.string().optional(),
  accessKey: OBJECT_KEY.optional(),
  secretKey: OBJECT_KEY.optional(),
  profile: z.string().optional(),
  roleArn: z.string().optional(),
  useFIPSSTSEndpoint: z.boolean().optional(),
});
export type SigV4 = Decoded<typeof SIGV4>;

/** How a client authenticates; which of them an object may have depends on its kind. */
export const CLIENT_AUTHENTICATION = {
  basicAuth: BASIC_AUTH.optional(),
  authorization: SAFE_AUTHORIZATION.optional(),
  oauth2: OAUTH2.optional(),
};

const RELABEL_ACTION = z
  .string()
  .regex(
    /^(replace|Replace|keep|Keep|drop|Drop|hashmod|HashMod|labelmap|LabelMap|labeldrop|LabelDrop|labelkeep|LabelKeep|lowercase|Lowercase|uppercase|Uppercase|keepequal|KeepEqual|dropequal|DropEqual)$/,
    'must be an action of relabelings, such as replace',
  );

export const RELABELING = z.object({
  sourceLabels: z.array(z.string()).optional(),
  separator: z.string().optional(),
  targetLabel: z.string().optional(),
  regex: z.string().optional(),
  modulus: z.number().int().min(0).optional(),
  replacement: z.string().optional(),
  action: RELABEL_ACTION.default('replace'),
});
export type Relabeling = Decoded<typeof RELABELING>;

export const RELABELINGS = z.array(RELABELING).optional();

/** Requirements are checked where they are used, so that an invalid one is refused with the message of Kubernetes. */
export const LABEL_SELECTOR = z.object({
  matchLabels: TEXTS.optional(),
  matchExpressions: z
    .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
    .optional(),
});
export type LabelSelectorFields = Decoded<typeof LABEL_SELECTOR>;

export const NAMESPACE_SELECTOR = z.object({
  any: z.boolean().optional(),
  matchNames: z.array(z.string()).optional(),
});
export type NamespaceSelector = Decoded<typeof NAMESPACE_SELECTOR>;

export const ATTACH_METADATA = z.object({ node: z.boolean().optional() });

/** Limits of a job, each of which a Prometheus can also enforce. */
export const SCRAPE_LIMITS = {
  sampleLimit: LIMIT.optional(),
  targetLimit: LIMIT.optional(),
  labelLimit: LIMIT.optional(),
  labelNameLengthLimit: LIMIT.optional(),
  labelValueLengthLimit: LIMIT.optional(),
  keepDroppedTargets: LIMIT.optional(),
};

/** How targets are scraped, for all kinds of monitors. */
export const SCRAPE_SETTINGS = {
  ...SCRAPE_LIMITS,
  scrapeClass: z.string().min(1).optional(),
  scrapeProtocols: z.array(SCRAPE_PROTOCOL).optional(),
  fallbackScrapeProtocol: SCRAPE_PROTOCOL.optional(),
  nativeHistogramBucketLimit: LIMIT.optional(),
  nativeHistogramMinBucketFactor: QUANTITY.optional(),
  scrapeClassicHistograms: z.boolean().optional(),
  convertClassicHistogramsToNHCB: z.boolean().optional(),
};
const SCRAPE_SETTINGS_OBJECT = z.object(SCRAPE_SETTINGS);
export type ScrapeSettings = Decoded<typeof SCRAPE_SETTINGS_OBJECT>;
