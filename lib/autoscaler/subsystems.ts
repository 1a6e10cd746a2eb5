import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import type { MetricStore } from '#lib/collection/metric-store.ts';
import type { PollLimits } from '#lib/collection/poll-limits.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ScaleLog } from '#lib/control/scale-log.ts';
import type { Subsystem } from '#lib/control/subsystem.ts';
import type { TargetPins } from '#lib/control/target-pins.ts';
import type { WorkQueueSeries } from '#lib/control/work-queue-metrics.ts';
import type { HpaEnvironment } from '#lib/hpa/hpa-subsystem.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import type { FindAddresses } from '#lib/sources/network/allowed-hosts.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AutoscalerOptions } from './options/autoscaler-options.ts';
import type { AutoscalerUiPart } from './ui/render-page.ts';

/** What subsystems share: one of each in the process. */
export interface Runtime {
  readonly client: ApiClient;
  /** Reads what triggers refer to, with a budget of its own. */
  readonly reader: ApiClient;
  readonly mapper: RestMapper;
  readonly informers: SharedInformers;
  readonly scales: ScaleClient;
  readonly scaleLog: ScaleLog;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly registry: SlicedRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workQueues: WorkQueueSeries;
  readonly findAddresses: FindAddresses;
  readonly store: MetricStore;
  readonly pollLimits: PollLimits;
  readonly pins: TargetPins;
  readonly userAgent: string;
  readonly version: VersionInfo;
  /** Whether this replica is the one that reports what all of them see. */
  readonly isReporting: () => boolean;
}

export type AutoscalerSubsystem = Subsystem<AutoscalerUiPart>;

/**
 * Loads and composes a subsystem, where flags choose it: what is loaded takes memory for as long as the program runs.
 *
 * @param stack takes what the subsystem works with, to be disposed of after it
 * @returns `undefined` where flags do not choose it
 */
type OpenSubsystem = (
  runtime: Runtime,
  options: AutoscalerOptions,
  stack: AsyncDisposableStack,
) => Promise<AutoscalerSubsystem | undefined>;

/** The subsystems of the autoscaler. A new one is a folder, and an entry here. */
export const SUBSYSTEMS: readonly OpenSubsystem[] = [
  async (runtime, { metricsAdapter: options }, stack) => {
    if (!options) return undefined;
    const { openMetricsAdapter } = await import('#lib/metrics-adapter/metrics-adapter.ts');
    return await openMetricsAdapter(options, runtime, stack);
  },
  async (runtime, { controllers, cronHpa: options }) => {
    if (!controllers.has('cronhpa')) return undefined;
    const { cronHpaSubsystem } = await import('#lib/cron-hpa/cron-hpa-subsystem.ts');
    const cronHpa = cronHpaSubsystem({ ...runtime, ...options });
    runtime.pins.add(cronHpa.isPinned);
    return cronHpa;
  },
  async (runtime, { controllers, hpa: options }, stack) => {
    if (!controllers.has('hpa')) return undefined;
    const { hpaSubsystem } = await import('#lib/hpa/hpa-subsystem.ts');
    return hpaSubsystem({
      ...runtime,
      options: options.options,
      askPrometheus: await openPrometheus(options, runtime, stack),
    });
  },
  async (runtime, { controllers, scaledObjects: options }, stack) => {
    if (!controllers.has('scaledobjects')) return undefined;
    const { openScaledObjects } = await import('#lib/scaled-objects/scaled-objects-subsystem.ts');
    return await openScaledObjects({ ...runtime, ...options }, stack);
  },
  async (runtime, { metricsAdapter, hpa }) => {
    if (!metricsAdapter?.scalingSchedule) return undefined;
    const { scalingScheduleSubsystem } = await import(
      '#lib/metrics-adapter/scaling-schedules/scaling-schedule-controller.ts'
    );
    const { scalingSchedule: defaults, relistMs } = metricsAdapter;
    const { tolerance } = hpa.options.config;
    return scalingScheduleSubsystem({ ...runtime, defaults, relistMs, tolerance });
  },
];

/** What asks the Prometheus server that flags name, if they name one. */
async function openPrometheus(
  { prometheus, sourceTls: everyTls }: AutoscalerOptions['hpa'],
  runtime: Runtime,
  stack: AsyncDisposableStack,
): Promise<HpaEnvironment['askPrometheus']> {
  if (!prometheus) return undefined;
  const { namedSources } = await import('#lib/metrics-adapter/named-sources.ts');
  const sourceTls = new Map([...everyTls].filter(([name]) => name === 'prometheus'));
  const noOther = { influxdb: undefined, zmon: undefined, nakadi: undefined, awsRegions: undefined };
  const named = { ...noOther, prometheus, additionalPrometheus: new Map(), sourceTls };
  const { server } = await namedSources(named, { ...runtime, stack });
  return server && ((query, signal) => server.query(query).ask(signal));
}
