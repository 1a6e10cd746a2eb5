import type { Declared } from '../objects/declared-object.ts';
import type { PrometheusSpec } from '../objects/prometheus.ts';
import { refuse, within } from '../objects/refusal.ts';
import { type Block, block, type FieldNames, renameFields } from './block.ts';
import type { ConfigurationContext } from './configuration-context.ts';
import { writeTls } from './credentials.ts';
import { checkTimeout } from './durations.ts';
import { globalLimits } from './limits.ts';
import { nameSchemes } from './name-schemes.ts';
import { quantityAsNumber } from './quantity-as-number.ts';
import { isLabelName } from './relabelings.ts';
import { requireFeature, supports } from './version-gates.ts';

const GLOBAL_FIELDS: FieldNames<PrometheusSpec> = {
  scrapeInterval: 'scrape_interval',
  scrapeTimeout: 'scrape_timeout',
  evaluationInterval: 'evaluation_interval',
  ruleQueryOffset: 'rule_query_offset',
  convertClassicHistogramsToNHCB: 'convert_classic_histograms_to_nhcb',
  scrapeClassicHistograms: 'always_scrape_classic_histograms',
};

/** The directory, in the pod of Prometheus, of log files that are named without one. */
const LOGS = '/var/log/prometheus';

/** @throws {Refusal} for a timeout above the interval, and for an external label without a valid name */
export function writeGlobal({ prometheus, version }: ConfigurationContext): Block {
  const { spec } = prometheus;
  checkTimeout(spec.scrapeTimeout, spec.scrapeInterval);
  const settings = block({
    ...renameFields(spec, GLOBAL_FIELDS),
    scrape_protocols: spec.scrapeProtocols?.filter(
      (protocol) =>
        protocol !== 'PrometheusText1.0.0' || supports('scrape protocol PrometheusText1.0.0', version),
    ),
    ...globalLimits(spec),
    body_size_limit: spec.bodySizeLimit || spec.enforcedBodySizeLimit,
    scrape_failure_log_file: logFile(spec.scrapeFailureLogFile),
    query_log_file: logFile(spec.queryLogFile),
    ...nameSchemes(spec),
  });
  const labels = externalLabels(prometheus);
  for (const label of Object.keys(labels))
    if (!isLabelName(label, version)) refuse(`external label ${JSON.stringify(label)} is not a valid name`);
  return { ...settings, external_labels: labels };
}

/** Labels of all series that leave a Prometheus; the reloader in its pod replaces `$(POD_NAME)`. */
function externalLabels({ spec, namespace, name }: Declared<'Prometheus'>): Block {
  const { prometheusExternalLabelName: own = 'prometheus' } = spec;
  const replica = replicaLabel(spec);
  const labels = Object.entries(spec.externalLabels ?? {})
    .filter(([label]) => label !== own && label !== replica)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries([
    ...(own === '' ? [] : [[own, `${namespace}/${name}`]]),
    ...(replica === '' ? [] : [[replica, '$(POD_NAME)']]),
    ...labels,
  ]);
}

/** The external label that distinguishes replicas; empty if there is none. */
export function replicaLabel({ replicaExternalLabelName = 'prometheus_replica' }: PrometheusSpec): string {
  return replicaExternalLabelName;
}

function logFile(path: string | undefined): string | undefined {
  return !path || path.includes('/') ? path : `${LOGS}/${path}`;
}

/** Settings of the server and its storage. */
export function writeServerSettings({ prometheus }: ConfigurationContext): Block {
  const { runtime, exemplars, tsdb } = prometheus.spec;
  return {
    runtime: runtime?.goGC === undefined ? undefined : { gogc: runtime.goGC },
    storage: block({
      exemplars: exemplars?.maxSize === undefined ? undefined : { max_exemplars: exemplars.maxSize },
      tsdb: tsdb?.outOfOrderTimeWindow ? { out_of_order_time_window: tsdb.outOfOrderTimeWindow } : undefined,
    }),
  };
}

const OTLP_FIELDS: FieldNames<NonNullable<PrometheusSpec['otlp']>> = {
  promoteAllResourceAttributes: 'promote_all_resource_attributes',
  ignoreResourceAttributes: 'ignore_resource_attributes',
  promoteResourceAttributes: 'promote_resource_attributes',
  translationStrategy: 'translation_strategy',
  keepIdentifyingResourceAttributes: 'keep_identifying_resource_attributes',
  convertHistogramsToNHCB: 'convert_histograms_to_nhcb',
  promoteScopeMetadata: 'promote_scope_metadata',
};

/** @throws {Refusal} for attributes that contradict each other, and if the version has no OTLP */
export function writeOtlp({ prometheus, version }: ConfigurationContext): Block | undefined {
  const { otlp } = prometheus.spec;
  if (otlp === undefined) return undefined;
  const { promoteAllResourceAttributes: all, translationStrategy: strategy } = otlp;
  return within('otlp', () => {
    requireFeature('otlp', version, 'OTLP configuration');
    if (all && otlp.promoteResourceAttributes?.length)
      refuse(
        "'promoteAllResourceAttributes' cannot be set to 'true' simultaneously with 'promoteResourceAttributes'",
      );
    if (!all && otlp.ignoreResourceAttributes?.length)
      refuse("'ignoreResourceAttributes' can only be set if 'promoteAllResourceAttributes' is 'true'");
    if (strategy === 'NoTranslation')
      requireFeature('otlp strategy NoTranslation', version, `translationStrategy ${strategy}`);
    if (strategy === 'UnderscoreEscapingWithoutSuffixes')
      requireFeature(
        'otlp strategy UnderscoreEscapingWithoutSuffixes',
        version,
        `translationStrategy ${strategy}`,
      );
    return renameFields(otlp, OTLP_FIELDS);
  });
}

const TRACING_FIELDS: FieldNames<NonNullable<PrometheusSpec['tracingConfig']>> = {
  endpoint: 'endpoint',
  clientType: 'client_type',
  insecure: 'insecure',
  headers: 'headers',
  compression: 'compression',
  timeout: 'timeout',
};

/** @throws {Refusal} for TLS that contradicts itself or refers to what does not exist */
export function writeTracing({ prometheus, references }: ConfigurationContext): Block | undefined {
  const { tracingConfig: tracing } = prometheus.spec;
  if (tracing === undefined) return undefined;
  const { tlsConfig, samplingFraction } = tracing;
  return within('tracingConfig', () =>
    block({
      ...renameFields(tracing, TRACING_FIELDS),
      sampling_fraction: samplingFraction === undefined ? undefined : quantityAsNumber(samplingFraction),
      tls_config:
        tlsConfig && within('tlsConfig', () => writeTls(tlsConfig, references(prometheus.namespace))),
    }),
  );
}
