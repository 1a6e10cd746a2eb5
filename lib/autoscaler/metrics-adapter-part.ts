import type { Subsystem } from '#lib/apiserver/subsystems.ts';
import type { MetricsUiPart } from '#lib/metrics-adapter/debug-metrics.ts';
import { metricCollectors } from '#lib/metrics-adapter/metric-collectors.ts';
import { type MetricsAdapterEnvironment, metricsAdapter } from '#lib/metrics-adapter/metrics-adapter.ts';
import type { MetricsAdapterPartOptions } from '#lib/metrics-adapter/metrics-adapter-options.ts';
import { listenForMetrics } from '#lib/metrics-adapter/metrics-listener.ts';
import type { FoundSchedules } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import type { FindAddresses } from '#lib/sources/network/allowed-hosts.ts';
import type { HasUi } from '#lib/ui/page.ts';

/** What the part needs from outside. */
export interface MetricsAdapterPartEnvironment
  extends Omit<MetricsAdapterEnvironment, 'collectors' | 'pods'> {
  readonly userAgent: string;
  readonly findAddresses: FindAddresses | undefined;
  /** `undefined` where there are none. */
  readonly schedules: FoundSchedules | undefined;
}

/**
 * The metrics adapter with the sources that flags name.
 *
 * @throws when a token file cannot be used, or an address not be listened at
 */
export async function metricsAdapterPart(
  options: MetricsAdapterPartOptions,
  environment: MetricsAdapterPartEnvironment,
): Promise<Subsystem & HasUi<MetricsUiPart>> {
  await using stack = new AsyncDisposableStack();
  const { collectors, pods } = await metricCollectors(options, { ...environment, stack });
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
