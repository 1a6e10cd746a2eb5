import type { Subsystem } from '#lib/control/subsystem.ts';
import type { MetricsUiPart } from '#lib/metrics-adapter/debug-metrics.ts';
import { metricCollectors } from '#lib/metrics-adapter/metric-collectors.ts';
import { type MetricsAdapterEnvironment, metricsAdapter } from '#lib/metrics-adapter/metrics-adapter.ts';
import type { MetricsAdapterPartOptions } from '#lib/metrics-adapter/metrics-adapter-options.ts';
import { listenForMetrics } from '#lib/metrics-adapter/metrics-listener.ts';
import { FollowedSchedules } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import type { FindAddresses } from '#lib/sources/network/allowed-hosts.ts';

/** What the part needs from outside. */
export interface MetricsAdapterPartEnvironment
  extends Omit<MetricsAdapterEnvironment, 'collectors' | 'pods'> {
  readonly userAgent: string;
  readonly findAddresses: FindAddresses | undefined;
}

/**
 * The metrics adapter with the sources that flags name.
 *
 * @throws when a token file cannot be used, or an address not be listened at
 */
export async function metricsAdapterPart(
  options: MetricsAdapterPartOptions,
  environment: MetricsAdapterPartEnvironment,
): Promise<Subsystem<MetricsUiPart>> {
  await using stack = new AsyncDisposableStack();
  const schedules =
    options.scalingSchedule && new FollowedSchedules({ ...environment, relistMs: options.relistMs });
  const { collectors, pods } = await metricCollectors(options, { ...environment, schedules, stack });
  if (!options.prometheus && needsPrometheus(options))
    environment.logger.warning(
      'Requests that Skipper counts are not collected: they take a Prometheus server, and --prometheus-server names none',
    );
  if (options.metricsAddress) stack.use(await listenForMetrics(options.metricsAddress, environment));
  const adapter = stack.use(metricsAdapter(options, { ...environment, collectors, pods }));
  const owned = stack.move();
  return { ...adapter, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Flags of kube-metrics-adapter mean nothing without another: its Deployments start nevertheless. */
function needsPrometheus({ skipper, externalRpsMetricName }: MetricsAdapterPartOptions): boolean {
  return skipper.ingresses || skipper.routeGroups || externalRpsMetricName !== undefined;
}
