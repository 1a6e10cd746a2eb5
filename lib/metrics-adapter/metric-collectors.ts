import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { PODS } from '#lib/kubernetes/objects/pod.ts';
import { HttpClients } from '#lib/sources/http/http-clients.ts';
import type { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { AllowedHosts, type FindAddresses } from '#lib/sources/network/allowed-hosts.ts';
import { openSqlSource, type SqlSource } from '#lib/sources/sql/sql-source.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { hostRateCollector } from './collectors/host-rate-collector.ts';
import { httpCollector } from './collectors/http-collector.ts';
import { influxdbCollector } from './collectors/influxdb-collector.ts';
import type { MetricCollector } from './collectors/metric-collector.ts';
import { nakadiCollector } from './collectors/nakadi-collector.ts';
import { podsCollector } from './collectors/pods-collector.ts';
import { prometheusCollector } from './collectors/prometheus-collector.ts';
import { scalingScheduleCollector } from './collectors/scaling-schedule-collector.ts';
import { skipperCollector } from './collectors/skipper-collector.ts';
import { sqlCollector } from './collectors/sql-collector.ts';
import { sqsCollector } from './collectors/sqs-collector.ts';
import { zmonCollector } from './collectors/zmon-collector.ts';
import type { MetricsAdapterPartOptions } from './metrics-adapter-options.ts';
import { namedSources } from './named-sources.ts';
import type { FoundSchedules } from './scaling-schedules/scaling-schedule.ts';
import { TARGET_PODS, TargetPods } from './targets/target-pods.ts';
import { TargetSelectors } from './targets/target-selectors.ts';

interface MetricCollectorsEnvironment {
  readonly client: ApiClient;
  readonly mapper: RestMapper;
  readonly informers: SharedInformers;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly userAgent: string;
  /** `undefined` where only addresses are dialed, and no names. */
  readonly findAddresses: FindAddresses | undefined;
  /** `undefined` where there are none. */
  readonly schedules: FoundSchedules | undefined;
  /** Owns what must be disposed. */
  readonly stack: AsyncDisposableStack;
}

/**
 * The collectors of configured sources, and the pods that some of them query.
 *
 * @throws when a token file or the file of a database cannot be used
 */
export async function metricCollectors(
  options: MetricsAdapterPartOptions,
  environment: MetricCollectorsEnvironment,
): Promise<{ readonly collectors: readonly MetricCollector[]; readonly pods: TargetPods }> {
  const { clock, client, mapper, informers, userAgent, schedules, stack, findAddresses } = environment;
  const { allowedHosts, relistMs, scalingSchedule, defaultIntervalMs } = options;
  const share = new EventLoopShare(clock);
  const http = { clock, userAgent, share, findAddresses };
  const clients = stack.use(new HttpClients({ ...http, allowedHosts: new AllowedHosts(allowedHosts) }));
  // A pod may have any address, except those that are forbidden unless the administrator names them.
  const ofPods = stack.use(
    new HttpClients({ ...http, allowedHosts: new AllowedHosts(['*', ...allowedHosts]) }),
  );
  const pods = new TargetPods(informers.get(PODS, { ...TARGET_PODS, relistMs }));
  const selectors = new TargetSelectors({ client, mapper, clock, random: Math.random });
  const sources = await namedSources(options, { ...environment, stack, share });
  const sqlSources = new Map<string, SqlSource>();
  for (const [name, path] of options.sqlSources)
    sqlSources.set(name, stack.use(await openSqlSource({ name, path }, environment)));
  const collectors = [
    prometheusCollector({ ...sources, clients }),
    httpCollector({ clients }),
    podsCollector({ clock, clients: ofPods, pods, selectors, defaultIntervalMs }),
    sqlCollector({ sources: sqlSources }),
    influxdbCollector({ server: sources.influxdb, clients }),
    ...(sources.zmon ? [zmonCollector({ server: sources.zmon })] : []),
    ...(sources.nakadi ? [nakadiCollector({ server: sources.nakadi })] : []),
    ...(options.awsRegions ? [sqsCollector({ regions: sources.sqsRegions })] : []),
    ...(sources.server ? byPrometheus(sources.server, options, { client, mapper }) : []),
    ...(schedules && scalingSchedule
      ? [scalingScheduleCollector({ schedules, defaults: scalingSchedule, clock })]
      : []),
  ];
  return { collectors, pods };
}

/** Collectors of requests that Skipper counts, which are in Prometheus alone. */
function byPrometheus(
  server: PrometheusServer,
  { skipper, externalRpsMetricName: series }: MetricsAdapterPartOptions,
  cluster: Pick<MetricCollectorsEnvironment, 'client' | 'mapper'>,
): readonly MetricCollector[] {
  const { ingresses, routeGroups } = skipper;
  return [
    ...(ingresses || routeGroups ? [skipperCollector({ server, ...cluster, ...skipper })] : []),
    ...(series === undefined ? [] : [hostRateCollector({ server, series })]),
  ];
}
