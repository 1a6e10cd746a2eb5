import type { Registry } from 'prom-client';
import type { ApiGroup } from '#lib/apiserver/resources/api-group.ts';
import { Collection } from '#lib/collection/collection.ts';
import { failureText } from '#lib/collection/failure-text.ts';
import type { MetricStore } from '#lib/collection/metric-store.ts';
import type { PollLimits } from '#lib/collection/poll-limits.ts';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { type Controller, runController } from '#lib/control/controller.ts';
import { ReplicaWork } from '#lib/control/replica-work.ts';
import type { ControllerEnvironment, Subsystem } from '#lib/control/subsystem.ts';
import { HPAS } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { FindAddresses } from '#lib/sources/network/allowed-hosts.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { LineBudgets } from '#lib/telemetry/line-budget.ts';
import { customMetricsGroup } from './api/custom-metrics-group.ts';
import { externalMetricsGroup } from './api/external-metrics-group.ts';
import { nameOfMetric, SCALED_HPAS, type ScaledHpa } from './collected-metrics.ts';
import type { MetricCollector } from './collectors/metric-collector.ts';
import { metricCollectors } from './metric-collectors.ts';
import type { MetricsAdapterOptions, MetricsAdapterPartOptions } from './metrics-adapter-options.ts';
import { listenForMetrics } from './metrics-listener.ts';
import { debugMetrics } from './observability/debug-metrics.ts';
import {
  collectedStates,
  type MetricsAdapterSeries,
  metricsAdapterSeries,
} from './observability/metrics-adapter-series.ts';
import { metricsUi } from './observability/metrics-ui.ts';
import { HpaCollectors } from './plans/hpa-collectors.ts';
import { QueryNotices, severalSamplesNote } from './plans/query-notices.ts';
import { cannotCollect, storedMetrics } from './plans/stored-metrics.ts';
import { CachedSchedules } from './scaling-schedules/scaling-schedule.ts';
import { ObjectLabels } from './targets/object-labels.ts';
import type { TargetPods } from './targets/target-pods.ts';

interface MetricsAdapterEnvironment extends Omit<ControllerEnvironment, 'scales' | 'scaleLog'> {
  readonly registry: Registry;
  readonly collectors: readonly MetricCollector[];
  /** Shared by the process. */
  readonly pollLimits: PollLimits;
  /** The served metrics; other subsystems may add metrics of theirs. */
  readonly store: MetricStore;
  /** Pods of targets, shared with collectors. */
  readonly pods: Pick<TargetPods, 'live'>;
  /** Whether this replica reports what all of them observe. */
  readonly isReporting: () => boolean;
}

/** Additional dependencies to open the sources. */
interface OpenMetricsAdapterEnvironment extends Omit<MetricsAdapterEnvironment, 'collectors' | 'pods'> {
  readonly userAgent: string;
  readonly findAddresses: FindAddresses | undefined;
}

const KIND = 'HorizontalPodAutoscaler';
const SOURCE_TIMEOUT_MS = 15_000;
/** Per namespace: one with many metrics, or with metrics that fail alternately, must not flood the log. */
const MAX_LINES_PER_HOUR = 100;

/**
 * Opens the configured sources, and the metrics adapter that collects from them.
 *
 * @param stack owns what must be disposed after it
 * @throws when a token file cannot be used, or it cannot listen on an address
 */
export async function openMetricsAdapter(
  options: MetricsAdapterPartOptions,
  environment: OpenMetricsAdapterEnvironment,
  stack: AsyncDisposableStack,
): Promise<Subsystem> {
  const schedules =
    options.scalingSchedule && new CachedSchedules({ ...environment, relistMs: options.relistMs });
  const { collectors, pods } = await metricCollectors(options, { ...environment, schedules, stack });
  if (!options.prometheus && needsPrometheus(options))
    environment.logger.warning('Metrics of Skipper are disabled: they require --prometheus-server');
  if (options.metricsAddress) stack.use(await listenForMetrics(options.metricsAddress, environment));
  return metricsAdapter(options, { ...environment, collectors, pods });
}

/** These flags of kube-metrics-adapter have no effect without another: its Deployments start nevertheless. */
function needsPrometheus({ skipper, externalRpsMetricName }: MetricsAdapterPartOptions): boolean {
  return skipper.ingresses || skipper.routeGroups || externalRpsMetricName !== undefined;
}

/** Collects the metrics of HPAs ahead of requests, and serves them. */
export function metricsAdapter(
  options: MetricsAdapterOptions,
  environment: MetricsAdapterEnvironment,
): Subsystem {
  const { mapper, informers, clock, logger, registry, events, collectors, store, pods, isReporting } =
    environment;
  const objectLabels = new ObjectLabels(environment);
  const series = metricsAdapterSeries({
    registry,
    nowMs: () => clock.nowMs(),
    collected: () => collectedStates(hpaCollectors, collection),
  });
  const tenantLineBudgets = new LineBudgets(clock, MAX_LINES_PER_HOUR);
  const collection = new Collection({
    ...{ clock, logger, tenantLineBudgets, random: Math.random, timeoutMs: SOURCE_TIMEOUT_MS },
    limits: environment.pollLimits,
    onPolled: (query, durationMs, error, reading) => {
      series.recordQuery(query.source, { durationMs, error });
      if (!error) severalSamples.update(query.key, severalSamplesNote(reading?.notes));
      failures.update(query.key, error && failureText(error));
    },
  });
  const hpas = informers.get(HPAS, { ...SCALED_HPAS, relistMs: options.relistMs });
  const hpaCollectors = new HpaCollectors({
    ...options,
    ...{ hpas, collection, collectors, mapper, objectLabels, share: new EventLoopShare(clock) },
    onChange: (key) => {
      const collected = hpaCollectors.collected.get(key);
      store.put(
        `${KIND} ${key}`,
        collected ? storedMetrics(key, collected, { collection, pods, objectLabels }) : {},
      );
      severalSamples.changed(key);
      failures.changed(key);
    },
    onProblem: (hpa, { error }) => {
      const line = tenantLineBudgets.of(hpa.namespace).take(true);
      const fields = { hpa: `${hpa.namespace}/${hpa.name}`, ...line };
      if (line) logger.error('Cannot collect metric of HPA', error, fields);
      warn(hpa, {
        reason: 'CreateNewMetricsCollector',
        message: `Failed to create new metrics collector: ${describeError(error)}`,
      });
    },
  });
  const severalSamples = new QueryNotices(hpaCollectors.collected, (hpa, { metric }, note) => {
    const message = `${nameOfMetric(metric)}: ${note}`;
    const line = tenantLineBudgets.of(hpa.namespace).take(true);
    const fields = { hpa: `${hpa.namespace}/${hpa.name}`, note: message, ...line };
    if (line) logger.warning('Query returned multiple samples; using the first', fields);
    warn(hpa, { reason: 'SeveralSamples', message });
  });
  // The log has one line for the source, however many HPAs use it.
  const failures = new QueryNotices(hpaCollectors.collected, (hpa, { metric }, why) =>
    warn(hpa, { reason: 'FailedCollectMetric', message: cannotCollect(metric, why) }),
  );
  const warn = (
    { namespace, name, uid }: ScaledHpa,
    event: { readonly reason: string; readonly message: string },
  ) => {
    const regarding = { apiVersion: 'autoscaling/v2', kind: KIND, namespace, name, uid };
    if (isReporting()) events.record({ regarding, type: 'Warning', action: 'Collect', ...event });
  };
  const groups: ApiGroup[] = [
    ...(options.servesCustom ? [customMetricsGroup(store.objects)] : []),
    ...(options.servesExternal ? [externalMetricsGroup(store)] : []),
  ];

  const collecting = new ReplicaWork({
    ...{ name: 'metrics-adapter-controller', logger },
    async run(signal) {
      hpas.start();
      await runController(counted(hpaCollectors.controller(), series), { clock, logger, signal });
    },
  });
  return {
    name: 'metrics-adapter',
    groups,
    healthChecks: [
      collecting.healthCheck,
      {
        name: 'metrics-adapter-collectors',
        endpoints: ['readyz'],
        check: () => (collection.isWarm ? undefined : 'some sources have not been queried yet'),
      },
    ],
    endpoints: new Map([['/debug/metrics', debugMetrics({ collectors: hpaCollectors, collection, clock })]]),
    ui: [metricsUi({ collectors: hpaCollectors, collection, clock })],
    start: () => collecting.start(),
    async [Symbol.asyncDispose]() {
      await collecting[Symbol.asyncDispose]();
      await collection[Symbol.asyncDispose]();
    },
  };
}

/** Counts each reconcile of a controller. */
function counted(controller: Controller, series: MetricsAdapterSeries): Controller {
  return {
    ...controller,
    async reconcile(key, signal) {
      try {
        const result = await controller.reconcile(key, signal);
        series.recordUpdate(undefined);
        return result;
      } catch (error) {
        if (!signal.aborted) series.recordUpdate(error);
        throw error;
      }
    },
  };
}
