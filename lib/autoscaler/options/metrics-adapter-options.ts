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
import { type metricsSourceFlags, splitEntry } from './source-options.ts';

/** What flags say of that; `undefined` where neither API is served. @throws {FlagError} for a contradiction */
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
    passesOverUnknown: values.disregardIncompatibleHpas,
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

/** The Prometheus server that is asked where nobody names another; `undefined` for none. */
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
      `--additional-prometheus-server-token-file names ${JSON.stringify(stray)}, which no --additional-prometheus-server does`,
    );
  return new Map([...servers].map(([name, url]) => [name, { url, tokenFile: tokenFiles.get(name) }]));
}

/** By the names of sources that other flags name; any other is a slip of the pen. */
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
  const known = named.flatMap(([name, isNamed]) => (isNamed ? [name] : []));
  const stray = [...folders.keys()].find((name) => !known.includes(name));
  if (stray === undefined) return folders;
  const names = known.join(', ') || 'none';
  throw new FlagError(
    `--source-tls must name a source that another flag names (${names}), not ${JSON.stringify(stray)}`,
  );
}

/** The values of `NAME=VALUE`. @throws {FlagError} when two have one name */
function byName(flag: string, entries: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of entries.flatMap((entry) => [splitEntry(entry) ?? []])) {
    if (name === undefined || value === undefined) continue;
    if (values.has(name)) throw new FlagError(`--${flag} must name ${JSON.stringify(name)} once`);
    values.set(name, value);
  }
  return values;
}

/** What is collected for HPAs and served, by the names that kube-metrics-adapter has. */
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
    description: 'How often a source is asked where an HPA does not say it.',
    validate: atLeastOneSecond,
  }),
  metricsTtlMs: flag('metrics-ttl', duration, {
    default: 900_000,
    description: 'For how long a value counts at most; three intervals of its collector where that is less.',
    validate: positive,
  }),
  resourceUpdateIntervalMs: flag('resource-update-interval', duration, {
    default: 30_000,
    description: 'How often HPAs are listed where they may not be watched.',
    validate: atLeastOneSecond,
  }),
  disregardIncompatibleHpas: flag('disregard-incompatible-hpas', boolean, {
    default: false,
    description: 'Keep silent about metrics whose collector is not known here.',
  }),
  scalingSchedule: flag('scaling-schedule', boolean, {
    default: false,
    description: 'Scale by ScalingSchedules and ClusterScalingSchedules.',
  }),
  scalingScheduleWindowMs: flag('scaling-schedule-default-scaling-window', duration, {
    default: 600_000,
    description: 'For how long a value is raised to before its time, where a schedule does not say it.',
    validate: notNegative,
  }),
  scalingScheduleRampSteps: flag('scaling-schedule-ramp-steps', integer, {
    default: 10,
    description: 'In how many steps it is.',
    validate: positive,
  }),
  scalingScheduleTimeZone: flag('scaling-schedule-default-time-zone', text, {
    default: 'Europe/Berlin',
    description: 'Where its times are meant, where a schedule does not say it.',
    validate: (name) => {
      try {
        TimeZone.named(name);
        return undefined;
      } catch {
        return 'must be the name of a zone of the IANA database, such as Europe/Berlin';
      }
    },
  }),
  listerKubeconfig: flag('lister-kubeconfig', text, {
    default: '',
    description: 'The same as --kubeconfig.',
  }),
  kubeClientQps: flag('kube-client-qps', decimal, {
    default: 0,
    description: 'The same as --kube-api-qps; 0 for what that says.',
    validate: notNegative,
  }),
  kubeClientBurst: flag('kube-client-burst', integer, {
    default: 0,
    description: 'The same as --kube-api-burst; 0 for what that says.',
    validate: notNegative,
  }),
  metricsAddress: flag('metrics-address', text, {
    default: '',
    description:
      'Where series are served over plain HTTP to everybody, too, as in :7979; by default nowhere: they are at /metrics of the secure port.',
    validate: (address) =>
      address === '' || parseListenAddress(address) ? undefined : 'must be HOST:PORT or :PORT',
  }),
  garbageCollectorInterval: flag<number>('garbage-collector-interval', duration, {
    default: 600_000,
    description: '',
    ignoredBecause: 'a value that counts no more is not served from that moment on',
  }),
};

function atLeastOneSecond(intervalMs: number): string | undefined {
  return intervalMs >= 1000 ? undefined : 'must be at least 1s';
}
