import type { Declared } from '../../objects/declared-object.ts';
import type { PodMonitorEndpoint, ServiceMonitorEndpoint } from '../../objects/monitors.ts';
import { mapAll, refuse, within } from '../../objects/refusal.ts';
import { selectorText } from '../../selection/select-objects.ts';
import { type Block, type FieldNames, renameFields } from '../block.ts';
import {
  type CheckedScrapeClass,
  type ConfigurationContext,
  findScrapeClass,
  serviceRole,
  shardsOf,
} from '../configuration-context.ts';
import { writeProxy } from '../credentials.ts';
import { checkTimeout } from '../durations.ts';
import { type DiscoveryRole, discoveredNamespaces, writeDiscovery } from '../kubernetes-discovery.ts';
import { bodySizeLimit } from '../limits.ts';
import {
  copyLabel,
  FIRST_GROUP,
  filterRelabeling,
  isLabelName,
  JOB_BEFORE_RELABELING,
  keepMatching,
  type Relabelings,
  sanitizedLabel,
  setLabel,
  shardingRelabelings,
} from '../relabelings.ts';
import { requireFeature } from '../version-gates.ts';
import {
  honorLabels,
  honorTimestamps,
  job,
  metricRelabelings,
  ownRelabelings,
  selectTargets,
  writeClient,
  writeScrapeSettings,
} from './job-settings.ts';

type Monitor = Declared<'ServiceMonitor' | 'PodMonitor'>;
type Endpoint = ServiceMonitorEndpoint | PodMonitorEndpoint;

const ENDPOINT_FIELDS: FieldNames<Endpoint> = {
  trackTimestampsStaleness: 'track_timestamps_staleness',
  interval: 'scrape_interval',
  scrapeTimeout: 'scrape_timeout',
  path: 'metrics_path',
  params: 'params',
  followRedirects: 'follow_redirects',
  enableHttp2: 'enable_http2',
};

const NOT_RUNNING = filterRelabeling('drop', ['__meta_kubernetes_pod_phase'], '(Failed|Succeeded)');

/**
 * The jobs of a ServiceMonitor, one for each endpoint.
 *
 * @throws {Refusal} if Prometheus or the API server would refuse any of them
 */
export function serviceMonitorJobs(
  monitor: Declared<'ServiceMonitor'>,
  context: ConfigurationContext,
): readonly Block[] {
  const { spec } = monitor;
  const scrapeClass = findScrapeClass(spec.scrapeClass, context);
  const { role, labelPrefix } = serviceRole(spec.serviceDiscoveryRole, context);
  const selected = selectByLabels(monitor, 'service', [role, 'service'], context);
  return mapAll(spec.endpoints, (endpoint, index) =>
    within(`endpoints[${index}]`, () => {
      if (context.prometheus.spec.arbitraryFSAccessThroughSMs?.deny) refuseFiles(endpoint);
      return job(`serviceMonitor/${monitor.namespace}/${monitor.name}/${index}`, {
        ...writeEndpoint(endpoint, monitor, scrapeClass, context),
        kubernetes_sd_configs: [
          discoverTargets({ monitor, scrapeClass, role, selectors: selected.selectors }, context),
        ],
        relabel_configs: [
          JOB_BEFORE_RELABELING,
          ...selected.relabelings,
          ...servicePort(endpoint, labelPrefix),
          ...serviceLabels(labelPrefix),
          ...(endpoint.filterRunning === false ? [] : [NOT_RUNNING]),
          ...copyMetaLabels('targetLabels', spec.targetLabels, 'service', context),
          ...podTargetLabels(monitor, context),
          { ...copyLabel('__meta_kubernetes_service_name', 'job'), replacement: FIRST_GROUP },
          ...(spec.jobLabel ? [jobLabel('service', spec.jobLabel)] : []),
          ...endpointLabel(endpoint.port || endpoint.targetPort),
          ...(scrapeClass?.relabelings ?? []),
          ...ownRelabelings('relabelConfigs', endpoint.relabelings, monitor, context),
          ...shardingRelabelings('__address__', shardsOf(context.prometheus.spec)),
        ],
      });
    }),
  );
}

/**
 * The jobs of a PodMonitor, one for each endpoint.
 *
 * @throws {Refusal} if Prometheus or the API server would refuse any of them
 */
export function podMonitorJobs(
  monitor: Declared<'PodMonitor'>,
  context: ConfigurationContext,
): readonly Block[] {
  const { spec, namespace, name } = monitor;
  const scrapeClass = findScrapeClass(spec.scrapeClass, context);
  const selected = selectByLabels(monitor, 'pod', ['pod'], context);
  return mapAll(spec.podMetricsEndpoints, (endpoint, index) =>
    within(`endpoint[${index}]`, () =>
      job(`podMonitor/${namespace}/${name}/${index}`, {
        ...writeEndpoint(endpoint, monitor, scrapeClass, context),
        kubernetes_sd_configs: [
          discoverTargets({ monitor, scrapeClass, role: 'pod', selectors: selected.selectors }, context),
        ],
        relabel_configs: [
          JOB_BEFORE_RELABELING,
          ...(endpoint.filterRunning === false ? [] : [NOT_RUNNING]),
          ...selected.relabelings,
          ...podPort(endpoint),
          copyLabel('__meta_kubernetes_namespace', 'namespace'),
          copyLabel('__meta_kubernetes_pod_container_name', 'container'),
          copyLabel('__meta_kubernetes_pod_name', 'pod'),
          ...podTargetLabels(monitor, context),
          setLabel('job', `${namespace}/${name}`),
          ...(spec.jobLabel ? [jobLabel('pod', spec.jobLabel)] : []),
          // A label by portNumber would change the identity of series that are recorded without it.
          ...endpointLabel(endpoint.port || (endpoint.portNumber ? undefined : endpoint.targetPort)),
          ...(scrapeClass?.relabelings ?? []),
          ...ownRelabelings('relabelConfigs', endpoint.relabelings, monitor, context),
          ...shardingRelabelings('__address__', shardsOf(context.prometheus.spec)),
        ],
      }),
    ),
  );
}

/** Writes the fields that jobs of ServiceMonitors and PodMonitors have in common. */
function writeEndpoint(
  endpoint: Endpoint,
  monitor: Monitor,
  scrapeClass: CheckedScrapeClass | undefined,
  context: ConfigurationContext,
): Block {
  const { spec } = context.prometheus;
  checkTimeout(endpoint.scrapeTimeout, endpoint.interval || spec.scrapeInterval);
  return {
    honor_labels: honorLabels(endpoint.honorLabels, context) ?? false,
    honor_timestamps: honorTimestamps(endpoint.honorTimestamps, context),
    ...renameFields(endpoint, ENDPOINT_FIELDS),
    scheme: endpoint.scheme?.toLowerCase(),
    ...writeProxy(endpoint, context.references(monitor.namespace)),
    ...writeClient(endpoint, monitor, scrapeClass, context),
    ...writeScrapeSettings(monitor.spec, scrapeClass, context),
    body_size_limit: bodySizeLimit(monitor.spec.bodySizeLimit, spec.enforcedBodySizeLimit),
    metric_relabel_configs: metricRelabelings(endpoint.metricRelabelings, monitor, scrapeClass, context),
  };
}

interface MonitorDiscovery {
  readonly monitor: Monitor;
  readonly scrapeClass: CheckedScrapeClass | undefined;
  readonly role: DiscoveryRole;
  readonly selectors: readonly Block[];
}

function discoverTargets(
  { monitor, scrapeClass, role, selectors }: MonitorDiscovery,
  context: ConfigurationContext,
): Block {
  const { namespaceSelector, attachMetadata = scrapeClass?.attachMetadata } = monitor.spec;
  return writeDiscovery(
    {
      role,
      namespaces: discoveredNamespaces(namespaceSelector, monitor, context),
      attachesNode: attachMetadata?.node,
      selectors,
    },
    context,
  );
}

/** Selects targets by labels: in the discovery of Prometheus if the monitor desires it, by relabelings otherwise. */
function selectByLabels(
  { spec }: Monitor,
  by: 'service' | 'pod',
  roles: readonly string[],
  { version }: ConfigurationContext,
): { readonly selectors: readonly Block[]; readonly relabelings: Relabelings } {
  const relabelings = selectTargets(spec.selector, by);
  if (spec.selectorMechanism !== 'RoleSelector') return { selectors: [], relabelings };
  requireFeature('RoleSelector', version, 'RoleSelector');
  const label = selectorText(spec.selector);
  const selectors = label === '' ? [] : roles.map((role) => ({ role, label }));
  return { selectors, relabelings: [] };
}

function servicePort({ port, targetPort }: ServiceMonitorEndpoint, labelPrefix: string): Relabelings {
  if (port) return [keepMatching(`${labelPrefix}_port_name`, port)];
  return containerPort(targetPort);
}

function podPort({ port, portNumber, targetPort }: PodMonitorEndpoint): Relabelings {
  if (port) return [keepMatching('__meta_kubernetes_pod_container_port_name', port)];
  return containerPort(portNumber ?? targetPort);
}

function containerPort(port: number | string | undefined): Relabelings {
  if (!port) return [];
  const by = typeof port === 'number' ? 'number' : 'name';
  return [keepMatching(`__meta_kubernetes_pod_container_port_${by}`, port)];
}

/** Labels that name the node or pod, the Service and the container of a target. */
function serviceLabels(labelPrefix: string): Relabelings {
  const nameOf = (kind: string, label: string) => ({
    source_labels: [`${labelPrefix}_address_target_kind`, `${labelPrefix}_address_target_name`],
    separator: ';',
    regex: `${kind};(.*)`,
    replacement: FIRST_GROUP,
    target_label: label,
  });
  return [
    nameOf('Node', 'node'),
    nameOf('Pod', 'pod'),
    copyLabel('__meta_kubernetes_namespace', 'namespace'),
    copyLabel('__meta_kubernetes_service_name', 'service'),
    copyLabel('__meta_kubernetes_pod_name', 'pod'),
    copyLabel('__meta_kubernetes_pod_container_name', 'container'),
  ];
}

function podTargetLabels({ spec }: Monitor, context: ConfigurationContext): Relabelings {
  const ofPrometheus = context.prometheus.spec.podTargetLabels;
  return [spec.podTargetLabels, ofPrometheus].flatMap((labels) =>
    copyMetaLabels('podTargetLabels', labels, 'pod', context),
  );
}

function copyMetaLabels(
  field: string,
  labels: readonly string[] = [],
  of: 'service' | 'pod',
  { version }: ConfigurationContext,
): Relabelings {
  return labels.map((label) => {
    if (!isLabelName(sanitizedLabel(label), version))
      refuse(`${field}: ${JSON.stringify(label)} is not a valid label name`);
    return copyMetaLabel(of, label);
  });
}

/** Copies a label of the Service or pod, if it has it. */
function copyMetaLabel(of: 'service' | 'pod', label: string): Block {
  const name = sanitizedLabel(label);
  return {
    source_labels: [`__meta_kubernetes_${of}_label_${name}`],
    target_label: name,
    regex: '(.+)',
    replacement: FIRST_GROUP,
  };
}

function jobLabel(of: 'service' | 'pod', label: string): Block {
  return { ...copyMetaLabel(of, label), target_label: 'job' };
}

function endpointLabel(port: number | string | undefined): Relabelings {
  return port ? [setLabel('endpoint', String(port))] : [];
}

/** With access to files, the author of a monitor could send files of Prometheus' pod to a server of their own. */
function refuseFiles({ bearerTokenFile, tlsConfig }: ServiceMonitorEndpoint): void {
  const refuseAccess = (by: string) =>
    refuse(`it accesses file system via ${by} which Prometheus specification prohibits`);
  if (bearerTokenFile) refuseAccess('bearer token file');
  if (tlsConfig?.caFile || tlsConfig?.certFile || tlsConfig?.keyFile) refuseAccess('tls config');
}
