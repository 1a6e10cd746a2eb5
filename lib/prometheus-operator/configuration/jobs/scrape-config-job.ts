import { parseFieldSelector } from '#lib/kubernetes/selectors/field-selector.ts';
import { parseLabelSelector, SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';
import type { ProxyConfig, TlsConfig } from '../../objects/common-fields.ts';
import type { Declared } from '../../objects/declared-object.ts';
import { mapAll, refuse, within } from '../../objects/refusal.ts';
import {
  type ConsulDiscovery,
  type DnsDiscovery,
  type HttpDiscovery,
  type KubernetesDiscovery,
  type ScrapeConfigSpec,
  UNSUPPORTED_DISCOVERIES,
} from '../../objects/scrape-config.ts';
import { type Block, block, type FieldNames, renameFields } from '../block.ts';
import { checkUrl } from '../check-url.ts';
import { type ConfigurationContext, findScrapeClass, shardsOf } from '../configuration-context.ts';
import { type ClientAuthentication, writeAuthentication, writeProxy, writeTls } from '../credentials.ts';
import { checkTimeout } from '../durations.ts';
import { attachMetadata, type DiscoveryRole } from '../kubernetes-discovery.ts';
import { nameSchemes } from '../name-schemes.ts';
import { isLabelName, JOB_BEFORE_RELABELING, shardingRelabelings } from '../relabelings.ts';
import { requireFeature } from '../version-gates.ts';
import {
  honorLabels,
  honorTimestamps,
  job,
  metricRelabelings,
  ownRelabelings,
  writeClient,
  writeScrapeSettings,
} from './job-settings.ts';

const SCRAPE_CONFIG_FIELDS: FieldNames<ScrapeConfigSpec> = {
  trackTimestampsStaleness: 'track_timestamps_staleness',
  scrapeInterval: 'scrape_interval',
  scrapeTimeout: 'scrape_timeout',
  metricsPath: 'metrics_path',
  params: 'params',
  enableCompression: 'enable_compression',
  enableHTTP2: 'enable_http2',
};

/**
 * The job of a ScrapeConfig.
 *
 * @throws {Refusal} if Prometheus or the API server would refuse it, and for a discovery that this program does not support
 */
export function scrapeConfigJob(object: Declared<'ScrapeConfig'>, context: ConfigurationContext): Block {
  const { spec, namespace, name } = object;
  const unsupported = UNSUPPORTED_DISCOVERIES.filter((field) => Object.hasOwn(spec, field));
  if (unsupported.length > 0) refuse(`${unsupported.join(', ')}: not supported`);
  const scrapeClass = findScrapeClass(spec.scrapeClass, context);
  checkTimeout(spec.scrapeTimeout, spec.scrapeInterval || context.prometheus.spec.scrapeInterval);
  const relabelings = ownRelabelings('relabelConfigs', spec.relabelings, object, context);
  const shards = shardsOf(context.prometheus.spec);
  const isSharded = spec.relabelings?.some(({ action }) => action.toLowerCase() === 'hashmod');
  return job(`scrapeConfig/${namespace}/${name}`, {
    honor_timestamps: honorTimestamps(spec.honorTimestamps, context),
    honor_labels: honorLabels(spec.honorLabels, context),
    ...renameFields(spec, SCRAPE_CONFIG_FIELDS),
    scheme: spec.scheme?.toLowerCase(),
    ...writeProxy(spec, context.references(namespace)),
    ...writeClient(spec, object, scrapeClass, context),
    ...writeScrapeSettings(spec, scrapeClass, context),
    body_size_limit: context.prometheus.spec.enforcedBodySizeLimit,
    ...writeDiscoveries(object, context),
    relabel_configs: [
      JOB_BEFORE_RELABELING,
      ...(scrapeClass?.relabelings ?? []),
      ...(spec.jobName ? [{ target_label: 'job', action: 'replace', replacement: spec.jobName }] : []),
      ...relabelings,
      ...(shards > 1 && !isSharded ? shardingRelabelings('__address__', shards) : []),
    ],
    metric_relabel_configs: metricRelabelings(spec.metricRelabelings, object, scrapeClass, context),
    ...nameSchemes(spec),
  });
}

function writeDiscoveries(object: Declared<'ScrapeConfig'>, context: ConfigurationContext): Block {
  const { spec } = object;
  const each = <Item>(
    field: string,
    items: readonly Item[] | undefined,
    write: (item: Item) => Block,
  ): readonly Block[] =>
    mapAll(items ?? [], (item, index) => within(`${field}: [${index}]`, () => write(item)));
  return {
    static_configs: each('staticConfigs', spec.staticConfigs, ({ targets, labels = {} }) => {
      for (const label of Object.keys(labels))
        if (!isLabelName(label, context.version)) refuse(`invalid label in map ${label}`);
      return { targets, labels };
    }),
    file_sd_configs: each('fileSDConfigs', spec.fileSDConfigs, ({ files, refreshInterval }) =>
      block({ files, refresh_interval: refreshInterval }),
    ),
    http_sd_configs: each('httpSDConfigs', spec.httpSDConfigs, (discovery) =>
      writeHttpDiscovery(discovery, object, context),
    ),
    kubernetes_sd_configs: each('kubernetesSDConfigs', spec.kubernetesSDConfigs, (discovery) =>
      writeKubernetesDiscovery(discovery, object, context),
    ),
    consul_sd_configs: each('consulSDConfigs', spec.consulSDConfigs, (discovery) =>
      writeConsulDiscovery(discovery, object, context),
    ),
    dns_sd_configs: each('dnsSDConfigs', spec.dnsSDConfigs, (discovery) =>
      writeDnsDiscovery(discovery, context),
    ),
  };
}

interface DiscoveryClient extends ClientAuthentication, ProxyConfig {
  readonly tlsConfig?: TlsConfig | undefined;
  readonly followRedirects?: boolean | undefined;
  readonly enableHTTP2?: boolean | undefined;
}

/** How a discovery reaches its server. */
function writeDiscoveryClient(
  client: DiscoveryClient,
  { namespace }: Declared<'ScrapeConfig'>,
  context: ConfigurationContext,
): Block {
  const references = context.references(namespace);
  const { tlsConfig } = client;
  return block({
    ...writeAuthentication(client, references),
    ...writeProxy(client, references),
    tls_config: tlsConfig && within('tlsConfig', () => writeTls(tlsConfig, references)),
    follow_redirects: client.followRedirects,
    enable_http2: client.enableHTTP2,
  });
}

function writeHttpDiscovery(
  discovery: HttpDiscovery,
  object: Declared<'ScrapeConfig'>,
  context: ConfigurationContext,
): Block {
  requireFeature('http_sd_configs', context.version, 'HTTP SD configuration');
  checkUrl('url', discovery.url);
  return block({
    ...writeDiscoveryClient(discovery, object, context),
    url: discovery.url,
    refresh_interval: discovery.refreshInterval,
  });
}

const CONSUL_FIELDS: FieldNames<ConsulDiscovery> = {
  server: 'server',
  pathPrefix: 'path_prefix',
  datacenter: 'datacenter',
  namespace: 'namespace',
  partition: 'partition',
  services: 'services',
  tags: 'tags',
  tagSeparator: 'tag_separator',
  nodeMeta: 'node_meta',
  filter: 'filter',
  allowStale: 'allow_stale',
  refreshInterval: 'refresh_interval',
};

function writeConsulDiscovery(
  discovery: ConsulDiscovery,
  object: Declared<'ScrapeConfig'>,
  context: ConfigurationContext,
): Block {
  const { tokenRef, pathPrefix, namespace, filter, scheme } = discovery;
  if (pathPrefix) requireFeature('consul path_prefix', context.version, 'field pathPrefix');
  if (namespace) requireFeature('consul namespace', context.version, 'field namespace');
  if (filter) requireFeature('consul filter', context.version, 'field filter');
  return block({
    ...writeDiscoveryClient(discovery, object, context),
    ...renameFields(discovery, CONSUL_FIELDS),
    token: tokenRef && context.references(object.namespace).secret(tokenRef),
    scheme: scheme?.toLowerCase(),
  });
}

function writeDnsDiscovery(
  { names, type, port, refreshInterval }: DnsDiscovery,
  { version }: ConfigurationContext,
): Block {
  if (type === 'MX' || type === 'NS')
    requireFeature(`DNS records of type ${type}`, version, `record type ${type}`);
  if (type !== undefined && type !== 'SRV' && port === undefined)
    refuse(`port required for record type "${type}"`);
  return block({ names, type, port, refresh_interval: refreshInterval });
}

/** Roles of selectors that Prometheus permits for each role of its discovery. */
const SELECTOR_ROLES: Readonly<Record<DiscoveryRole, readonly DiscoveryRole[]>> = {
  pod: ['pod'],
  service: ['service'],
  node: ['node'],
  ingress: ['ingress'],
  endpoints: ['pod', 'service', 'endpoints'],
  endpointslice: ['pod', 'service', 'endpointslice'],
};

/** Settings of clients that are no settings of their own, if they are true: Prometheus refuses others without `api_server`. */
const ON_BY_DEFAULT: ReadonlySet<string> = new Set(['follow_redirects', 'enable_http2']);

function writeKubernetesDiscovery(
  discovery: KubernetesDiscovery,
  object: Declared<'ScrapeConfig'>,
  context: ConfigurationContext,
): Block {
  const { apiServer, namespaces, selectors = [] } = discovery;
  const role = discovery.role.toLowerCase() as DiscoveryRole;
  if (apiServer && namespaces?.ownNamespace)
    refuse("cannot use 'apiServer' and 'namespaces.ownNamespace' simultaneously");
  const client = writeDiscoveryClient(discovery, object, context);
  const custom = Object.entries(client)
    .filter(([field, value]) => value !== true || !ON_BY_DEFAULT.has(field))
    .map(([field]) => field);
  if (!apiServer && custom.length > 0) refuse(`'apiServer' is required for ${custom.join(', ')}`);
  return block({
    api_server: apiServer,
    role,
    namespaces: namespaces && block({ names: namespaces.names, own_namespace: namespaces.ownNamespace }),
    ...client,
    selectors: selectors.map(({ role: selected, label, field }) => {
      const selectedRole = selected.toLowerCase() as DiscoveryRole;
      if (!SELECTOR_ROLES[role].includes(selectedRole))
        refuse(`${discovery.role} role supports only ${SELECTOR_ROLES[role].join(', ')} selectors`);
      checkSelectors(label, field);
      return block({ role: selectedRole, label, field });
    }),
    attach_metadata: attachMetadata(role, discovery.attachMetadata?.node, context),
  });
}

function checkSelectors(label: string | undefined, field: string | undefined): void {
  try {
    if (label) parseLabelSelector(label);
    if (field) parseFieldSelector(field, 'any');
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    refuse(error.message);
  }
}
