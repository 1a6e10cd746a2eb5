import {
  boolean,
  decimal,
  duration,
  type FlagValues,
  flag,
  integer,
  notNegative,
  positive,
  text,
} from '#lib/flags/flag.ts';
import { parseListenAddress } from '#lib/flags/listen-address.ts';
import { FlagError } from '#lib/flags/parse-flags.ts';
import type {
  MetricsAdapterPartOptions,
  PrometheusOptions,
} from '#lib/metrics-adapter/metrics-adapter-options.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';
import { type metricsSourceFlags, splitEntry } from './source-flags.ts';

/** Converts the flags; `undefined` when neither API is served. @throws {FlagError} for contradictory flags */
export function metricsAdapterOptionsOf(
  values: FlagValues<typeof metricsAdapterFlags & typeof metricsSourceFlags>,
): MetricsAdapterPartOptions | undefined {
  const { enableCustomMetricsApi: servesCustom, enableExternalMetricsApi: servesExternal } = values;
  const additionalPrometheus = additionalServers(values);
  const sourceTls = tlsFolders(values, additionalPrometheus);
  if (!servesCustom && !servesExternal) return undefined;
  const { influxdbAddress: address, influxdbToken, influxdbOrg: organization } = values;
  const tokenEndpoint = (url: string, tokenName: string) =>
    url === ''
      ? undefined
      : { url, tokenName, token: values.token, credentialsFolder: values.credentialsDir };
  return {
    ...{ servesCustom, servesExternal },
    defaultIntervalMs: values.defaultCollectionIntervalMs,
    metricsTtlMs: values.metricsTtlMs,
    relistMs: values.resourceUpdateIntervalMs,
    ignoresUnknown: values.disregardIncompatibleHpas,
    prometheus: prometheusOf(values),
    additionalPrometheus,
    sourceTls,
    sqlSources: byName('sql-source', values.sqlSources),
    skipper: {
      ingresses: values.skipperIngressMetrics,
      routeGroups: values.skipperRouteGroupMetrics,
      backendsAnnotations: values.skipperBackendsAnnotations,
    },
    externalRpsMetricName: values.externalRpsMetrics ? values.externalRpsMetricName : undefined,
    influxdb: address === '' ? undefined : { address, token: influxdbToken, organization },
    zmon: tokenEndpoint(values.zmonEndpoint, values.zmonTokenName),
    nakadi: tokenEndpoint(values.nakadiEndpoint, values.nakadiTokenName),
    awsRegions: values.awsExternalMetrics ? values.awsRegions : undefined,
    scalingSchedule: values.scalingSchedule
      ? {
          windowMs: values.scalingScheduleWindowMs,
          rampSteps: values.scalingScheduleRampSteps,
          timeZone: values.scalingScheduleTimeZone,
        }
      : undefined,
    allowedHosts: values.allowedHosts,
    metricsAddress: parseListenAddress(values.metricsAddress),
  };
}

/** The default Prometheus server; `undefined` for none. */
export function prometheusOf({
  prometheusServer: url,
  prometheusServerTokenFile: tokenFile,
}: Pick<FlagValues<typeof metricsSourceFlags>, 'prometheusServer' | 'prometheusServerTokenFile'>):
  | PrometheusOptions
  | undefined {
  return url === '' ? undefined : { url, tokenFile: tokenFile || undefined };
}

function additionalServers({
  additionalPrometheusServer,
  additionalPrometheusServerTokenFile,
}: FlagValues<typeof metricsSourceFlags>): ReadonlyMap<string, PrometheusOptions> {
  const servers = byName('additional-prometheus-server', additionalPrometheusServer);
  const tokenFiles = byName('additional-prometheus-server-token-file', additionalPrometheusServerTokenFile);
  const stray = [...tokenFiles.keys()].find((name) => !servers.has(name));
  if (stray !== undefined)
    throw new FlagError(
      `--additional-prometheus-server-token-file names ${JSON.stringify(stray)}, but no --additional-prometheus-server has this name`,
    );
  return new Map([...servers].map(([name, url]) => [name, { url, tokenFile: tokenFiles.get(name) }]));
}

/** TLS folders by source; each must be a source of another flag. */
export function tlsFolders(
  values: FlagValues<typeof metricsSourceFlags>,
  additional: ReadonlyMap<string, unknown> = additionalServers(values),
): ReadonlyMap<string, string> {
  const folders = byName('source-tls', values.sourceTls);
  const named: readonly (readonly [string, boolean])[] = [
    ['prometheus', values.prometheusServer !== ''],
    ...[...additional.keys()].map((name) => [`prometheus/${name}`, true] as const),
    ['influxdb', values.influxdbAddress !== ''],
    ['zmon', values.zmonEndpoint !== ''],
    ['nakadi', values.nakadiEndpoint !== ''],
  ];
  const enabled = named.flatMap(([name, isNamed]) => (isNamed ? [name] : []));
  const stray = [...folders.keys()].find((name) => !enabled.includes(name));
  if (stray === undefined) return folders;
  const names = enabled.join(', ') || 'none';
  throw new FlagError(
    `--source-tls: no flag configures a source ${JSON.stringify(stray)}; configured are: ${names}`,
  );
}

/** Parses `NAME=VALUE` entries. @throws {FlagError} for a repeated name */
function byName(flag: string, entries: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of entries.flatMap((entry) => [splitEntry(entry) ?? []])) {
    if (name === undefined || value === undefined) continue;
    if (values.has(name)) throw new FlagError(`--${flag} must name ${JSON.stringify(name)} once`);
    values.set(name, value);
  }
  return values;
}

/** Flags of the metrics adapter, with the names of kube-metrics-adapter. */
export const metricsAdapterFlags = {
  enableCustomMetricsApi: flag('enable-custom-metrics-api', boolean, {
    default: true,
    description: 'Serve custom.metrics.k8s.io.',
  }),
  enableExternalMetricsApi: flag('enable-external-metrics-api', boolean, {
    default: true,
    description: 'Serve external.metrics.k8s.io.',
  }),
  defaultCollectionIntervalMs: flag('default-collection-interval', duration, {
    default: 60_000,
    description: 'How often a source is queried for a metric that sets no interval.',
    validate: atLeastOneSecond,
  }),
  metricsTtlMs: flag('metrics-ttl', duration, {
    default: 900_000,
    description:
      'Maximum age of a served value. Regardless of this flag, a value is served for at most three intervals of its collector.',
    validate: positive,
  }),
  resourceUpdateIntervalMs: flag('resource-update-interval', duration, {
    default: 30_000,
    description: 'How often HPAs are listed if the permission to watch them is missing.',
    validate: atLeastOneSecond,
  }),
  disregardIncompatibleHpas: flag('disregard-incompatible-hpas', boolean, {
    default: false,
    description:
      'Ignore metrics with an unknown collector: report them neither in the log nor by events or /debug/metrics.',
  }),
  scalingSchedule: flag('scaling-schedule', boolean, {
    default: false,
    description: 'Scale by ScalingSchedules and ClusterScalingSchedules.',
  }),
  scalingScheduleWindowMs: flag('scaling-schedule-default-scaling-window', duration, {
    default: 600_000,
    description:
      'Duration of the ramps before the start and after the end of a schedule, for ScalingSchedules that set no scalingWindowDurationMinutes.',
    validate: notNegative,
  }),
  scalingScheduleRampSteps: flag('scaling-schedule-ramp-steps', integer, {
    default: 10,
    description: 'Number of steps of a ramp.',
    validate: positive,
  }),
  scalingScheduleTimeZone: flag('scaling-schedule-default-time-zone', text, {
    default: 'Europe/Berlin',
    description: 'Time zone of ScalingSchedules that set no timezone.',
    validate: (name) => {
      try {
        TimeZone.named(name);
        return undefined;
      } catch {
        return 'must be a time zone of the IANA database, such as Europe/Berlin';
      }
    },
  }),
  listerKubeconfig: flag('lister-kubeconfig', text, {
    default: '',
    description: 'The same as --kubeconfig.',
  }),
  kubeClientQps: flag('kube-client-qps', decimal, {
    default: 0,
    description: 'The same as --kube-api-qps; 0 means the value of that flag.',
    validate: notNegative,
  }),
  kubeClientBurst: flag('kube-client-burst', integer, {
    default: 0,
    description: 'The same as --kube-api-burst; 0 means the value of that flag.',
    validate: notNegative,
  }),
  metricsAddress: flag('metrics-address', text, {
    default: '',
    description:
      'Address, such as :7979, at which Prometheus metrics are also served over plain HTTP without authentication. By default, they are served only at /metrics of the secure port.',
    validate: (address) =>
      address === '' || parseListenAddress(address) ? undefined : 'must be HOST:PORT or :PORT',
  }),
  garbageCollectorInterval: flag<number>('garbage-collector-interval', duration, {
    default: 600_000,
    description: '',
    ignoredBecause: 'expired values are removed immediately',
  }),
};

function atLeastOneSecond(intervalMs: number): string | undefined {
  return intervalMs >= 1000 ? undefined : 'must be at least 1s';
}
