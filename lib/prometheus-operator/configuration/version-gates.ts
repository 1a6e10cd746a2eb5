import { refuse } from '../objects/refusal.ts';
import type { Block } from './block.ts';
import type { PrometheusVersion } from './prometheus-version.ts';

/**
 * The version of Prometheus since which a field of its configuration exists, by `block.field`; `*` stands for any block. Older
 * versions refuse a file with the field, so it is left out.
 */
const SINCE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '*.authorization': '2.26',
    '*.follow_redirects': '2.26',
    '*.enable_http2': '2.35',
    '*.oauth2': '2.27',
    '*.no_proxy': '2.43',
    '*.proxy_from_environment': '2.43',
    '*.proxy_connect_header': '2.43',
    'tls_config.min_version': '2.35',
    'tls_config.max_version': '2.41',

    'global.scrape_protocols': '2.49',
    'global.body_size_limit': '2.45',
    'global.sample_limit': '2.45',
    'global.target_limit': '2.45',
    'global.label_limit': '2.45',
    'global.label_name_length_limit': '2.45',
    'global.label_value_length_limit': '2.45',
    'global.keep_dropped_targets': '2.47',
    'global.rule_query_offset': '2.53',
    'global.scrape_failure_log_file': '2.55',
    'global.metric_name_validation_scheme': '3.0',
    'global.metric_name_escaping_scheme': '3.4',
    'global.convert_classic_histograms_to_nhcb': '3.4',
    'global.always_scrape_classic_histograms': '3.5',
    'runtime.gogc': '2.53',
    'storage.exemplars': '2.29',
    'storage.tsdb': '2.39',

    'scrape_configs.target_limit': '2.21',
    'scrape_configs.label_limit': '2.27',
    'scrape_configs.label_name_length_limit': '2.27',
    'scrape_configs.label_value_length_limit': '2.27',
    'scrape_configs.body_size_limit': '2.28',
    'scrape_configs.native_histogram_bucket_limit': '2.45',
    'scrape_configs.scrape_classic_histograms': '2.45',
    'scrape_configs.keep_dropped_targets': '2.47',
    'scrape_configs.track_timestamps_staleness': '2.48',
    'scrape_configs.scrape_protocols': '2.49',
    'scrape_configs.enable_compression': '2.49',
    'scrape_configs.native_histogram_min_bucket_factor': '2.50',
    'scrape_configs.fallback_scrape_protocol': '3.0',
    'scrape_configs.always_scrape_classic_histograms': '3.0',
    'scrape_configs.convert_classic_histograms_to_nhcb': '3.0',
    'scrape_configs.metric_name_validation_scheme': '3.0',
    'scrape_configs.metric_name_escaping_scheme': '3.4',

    'alertmanagers.sigv4': '2.48',
    'alertmanagers.alert_relabel_configs': '2.51',

    'remote_write.headers': '2.15',
    'remote_write.name': '2.15',
    'remote_write.metadata_config': '2.23',
    'remote_write.sigv4': '2.26',
    'remote_write.send_exemplars': '2.27',
    'remote_write.send_native_histograms': '2.40',
    'remote_write.azuread': '2.45',
    'remote_write.protobuf_message': '2.54',
    'remote_write.round_robin_dns': '3.1',
    'queue_config.retry_on_http_429': '2.26',
    'queue_config.sample_age_limit': '2.50',
    'metadata_config.max_samples_per_send': '2.29',
    'sigv4.use_fips_sts_endpoint': '2.54',
    'azuread.oauth': '2.48',
    'azuread.sdk': '2.52',
    'remote_read.name': '2.15',
    'remote_read.headers': '2.26',
    'remote_read.filter_external_labels': '2.34',

    'otlp.translation_strategy': '3.0',
    'otlp.keep_identifying_resource_attributes': '3.1',
    'otlp.convert_histograms_to_nhcb': '3.4',
    'otlp.promote_all_resource_attributes': '3.5',
    'otlp.ignore_resource_attributes': '3.5',
    'otlp.promote_scope_metadata': '3.6',
  }),
);

/** Names that a field had before it was renamed, by `block.field`, and the version that renamed it. */
const RENAMED: ReadonlyMap<string, { readonly before: string; readonly in: string }> = new Map([
  ['scrape_configs.always_scrape_classic_histograms', { before: 'scrape_classic_histograms', in: '3.0' }],
]);

/** What else depends on the version: values, and what an object is refused for. */
const FEATURES = {
  'role endpointslice': '2.21',
  'attach_metadata of pods': '2.35',
  'attach_metadata of endpoints': '2.37',
  'limits that jobs inherit': '2.45',
  'relabeling by case': '2.36',
  'relabeling by equality': '2.41',
  'UTF-8 names': '3.0',
  'scrape protocol PrometheusText1.0.0': '3.0',
  RoleSelector: '2.17',
  http_sd_configs: '2.28',
  'consul namespace': '2.28',
  'consul path_prefix': '2.45',
  'consul filter': '3.0',
  'DNS records of type MX': '2.38',
  'DNS records of type NS': '2.49',
  'only API v2 of Alertmanager': '3.0',
  otlp: '2.55',
  'otlp strategy NoTranslation': '3.4',
  'otlp strategy UnderscoreEscapingWithoutSuffixes': '3.6',
} as const;

export type Feature = keyof typeof FEATURES;

export function supports(feature: Feature, version: PrometheusVersion): boolean {
  return version.isAtLeast(FEATURES[feature]);
}

/**
 * @param what needs the version, for the author of the object
 * @throws {Refusal} if the version is older than the feature
 */
export function requireFeature(feature: Feature, version: PrometheusVersion, what: string): void {
  if (!supports(feature, version))
    refuse(`${what} is only supported for Prometheus version >= ${FEATURES[feature]}.0`);
}

/**
 * Leaves out the fields of a block that the version does not have, also in the blocks within it.
 *
 * @param name of the block in the tables above
 * @param onOmitted receives the name of each field that is left out, as in `scrape_configs.enable_http2`
 */
export function omitUnsupported(
  name: string,
  block: Block,
  version: PrometheusVersion,
  onOmitted: (field: string) => void,
): Block {
  const fields: [string, unknown][] = [];
  for (const [field, value] of Object.entries(block)) {
    const path = `${name}.${field}`;
    const renamed = RENAMED.get(path);
    const written = renamed && !version.isAtLeast(renamed.in) ? renamed.before : field;
    const since = SINCE.get(`${name}.${written}`) ?? SINCE.get(`*.${written}`);
    if (since !== undefined && !version.isAtLeast(since)) {
      onOmitted(path);
      continue;
    }
    const supported = supportedValue(field, value, version, onOmitted);
    if (isBlock(value) && isEmpty(supported) && !isEmpty(value)) continue;
    fields.push([written, supported]);
  }
  return Object.fromEntries(fields);
}

function supportedValue(
  name: string,
  value: unknown,
  version: PrometheusVersion,
  onOmitted: (field: string) => void,
): unknown {
  if (Array.isArray(value)) return value.map((item) => supportedValue(name, item, version, onOmitted));
  return isBlock(value) ? omitUnsupported(name, value, version, onOmitted) : value;
}

function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return isBlock(value) && Object.keys(value).length === 0;
}
