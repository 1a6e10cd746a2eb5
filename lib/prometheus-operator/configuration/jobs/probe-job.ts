import type { Declared } from '../../objects/declared-object.ts';
import type { ProbeSpec } from '../../objects/monitors.ts';
import { refuse, within } from '../../objects/refusal.ts';
import type { Block } from '../block.ts';
import { type ConfigurationContext, findScrapeClass, shardsOf } from '../configuration-context.ts';
import { writeProxy } from '../credentials.ts';
import { checkTimeout } from '../durations.ts';
import { discoveredNamespaces, writeDiscovery } from '../kubernetes-discovery.ts';
import {
  copyLabel,
  JOB_BEFORE_RELABELING,
  type Relabelings,
  setLabel,
  shardingRelabelings,
} from '../relabelings.ts';
import {
  honorTimestamps,
  job,
  metricRelabelings,
  ownRelabelings,
  selectTargets,
  writeClient,
  writeScrapeSettings,
} from './job-settings.ts';

/**
 * The job of a Probe, whose targets a prober probes.
 *
 * @throws {Refusal} if Prometheus or the API server would refuse it
 */
export function probeJob(probe: Declared<'Probe'>, context: ConfigurationContext): Block {
  const { spec, namespace, name } = probe;
  const scrapeClass = findScrapeClass(spec.scrapeClass, context);
  checkTimeout(spec.scrapeTimeout, spec.interval || context.prometheus.spec.scrapeInterval);
  checkProberUrl(spec.prober.url);
  const targets = writeTargets(probe, context);
  return job(`probe/${namespace}/${name}`, {
    honor_timestamps: honorTimestamps(true, context),
    metrics_path: spec.prober.path,
    scrape_interval: spec.interval,
    scrape_timeout: spec.scrapeTimeout,
    scheme: spec.prober.scheme?.toLowerCase(),
    params: writeParams(spec),
    ...within('prober', () => writeProxy(spec.prober, context.references(namespace))),
    ...writeScrapeSettings(spec, scrapeClass, context),
    body_size_limit: context.prometheus.spec.enforcedBodySizeLimit,
    ...targets.discovery,
    ...writeClient(spec, probe, scrapeClass, context),
    relabel_configs: [
      JOB_BEFORE_RELABELING,
      ...(spec.jobName ? [setLabel('job', spec.jobName)] : []),
      ...targets.relabelings,
      copyLabel('__param_target', 'instance'),
      setLabel('__address__', spec.prober.url),
      ...(scrapeClass?.relabelings ?? []),
      ...targets.ownRelabelings,
      ...shardingRelabelings('__param_target', shardsOf(context.prometheus.spec)),
    ],
    metric_relabel_configs: metricRelabelings(spec.metricRelabelings, probe, scrapeClass, context),
  });
}

/** `spec.module` wins over a parameter of its name. */
function writeParams({ module, params = [] }: ProbeSpec): Block {
  const given = params.filter(({ name }) => !module || name !== 'module');
  return Object.fromEntries([
    ...(module ? [['module', [module]]] : []),
    ...given.map(({ name, values }) => [name, values ?? []]),
  ]);
}

interface ProbedTargets {
  readonly discovery: Block;
  /** Of the discovered address to the parameter of the prober. */
  readonly relabelings: Relabelings;
  readonly ownRelabelings: Relabelings;
}

/** Static targets win over those of Ingresses. */
function writeTargets(probe: Declared<'Probe'>, context: ConfigurationContext): ProbedTargets {
  const { staticConfig, ingress } = probe.spec.targets ?? {};
  if (staticConfig !== undefined) {
    const { static: targets = [], labels, relabelingConfigs } = staticConfig;
    return {
      discovery: { static_configs: [{ targets, labels: { namespace: probe.namespace, ...labels } }] },
      relabelings: [copyLabel('__address__', '__param_target')],
      ownRelabelings: ownRelabelings(
        'targets.staticConfig.relabelConfigs',
        relabelingConfigs,
        probe,
        context,
      ),
    };
  }
  if (ingress === undefined)
    return refuse('at least one of .spec.targets.staticConfig and .spec.targets.ingress is required');
  return {
    discovery: {
      kubernetes_sd_configs: [
        writeDiscovery(
          {
            role: 'ingress',
            namespaces: discoveredNamespaces(ingress.namespaceSelector, probe, context),
          },
          context,
        ),
      ],
    },
    relabelings: [
      ...within('targets.ingress', () => selectTargets(ingress.selector, 'ingress')),
      ...INGRESS_LABELS,
    ],
    ownRelabelings: ownRelabelings(
      'targets.ingress.relabelConfigs',
      ingress.relabelingConfigs,
      probe,
      context,
    ),
  };
}

const INGRESS_LABELS: Relabelings = [
  {
    source_labels: ['__meta_kubernetes_ingress_scheme', '__address__', '__meta_kubernetes_ingress_path'],
    separator: ';',
    regex: '(.+);(.+);(.+)',
    target_label: '__param_target',
    replacement: `\${1}://\${2}\${3}`,
    action: 'replace',
  },
  copyLabel('__meta_kubernetes_namespace', 'namespace'),
  copyLabel('__meta_kubernetes_ingress_name', 'ingress'),
  {
    source_labels: ['__address__'],
    separator: ';',
    regex: '(.*)',
    target_label: '__tmp_ingress_address',
    replacement: '$1',
    action: 'replace',
  },
];

const HOST_AND_PORT = /^(\[[0-9a-fA-F:.]+\]|[^:/[\]]+)(?::(\d{1,5}))?$/;

/** The address of a prober is a host, or a host and a port. */
function checkProberUrl(url: string): void {
  const [, host, port] = HOST_AND_PORT.exec(url) ?? [];
  if (host !== undefined && (port === undefined || Number(port) <= 65_535)) return;
  refuse(
    `"${url}" url specified in proberSpec is invalid, it should be of the format \`hostname\` or \`hostname:port\``,
  );
}
