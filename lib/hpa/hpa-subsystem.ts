import type { Registry } from 'prom-client';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { type Controller, runController } from '#lib/control/controller.ts';
import type { ControllerEnvironment, Subsystem } from '#lib/control/subsystem.ts';
import type { PinnedTarget, TargetPins } from '#lib/control/target-pins.ts';
import type { WorkQueueSeries } from '#lib/control/work-queue-series.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { logOmitted } from '#lib/kubernetes/informer/log-omitted.ts';
import { HPAS, type Hpa, type HpaNeeds } from '#lib/kubernetes/objects/hpa-versions.ts';
import { POD_INDEXES, PODS } from '#lib/kubernetes/objects/pod.ts';
import type { UiPart } from '#lib/ui/page.ts';
import { ExternalControllers } from './external-controllers.ts';
import { type HpaLoopOptions, hpaController, recordEvent } from './hpa-controller.ts';
import { HpaStatusWriter, hpaResourceClient } from './hpa-status-writer.ts';
import { InputsReader } from './inputs/inputs-reader.ts';
import { CustomMetricsApi, MetricValuesReader } from './inputs/metric-values-client.ts';
import { NamespaceUsage } from './inputs/pod-metrics-client.ts';
import { TargetScales } from './inputs/target-scales.ts';
import { AutoMinReplicas } from './min-replicas/auto-min-replicas.ts';
import { MinReplicasReport } from './min-replicas/min-replicas-report.ts';
import { hpaOfKey } from './min-replicas/persisted-weeks.ts';
import { type QueryPrometheus, WeekFromPrometheus } from './min-replicas/week-from-prometheus.ts';
import { debugHpa } from './observability/debug-hpa.ts';
import { DecisionLog } from './observability/decision-log.ts';
import { HpaSeries } from './observability/hpa-series.ts';
import { hpaUi } from './observability/hpa-ui.ts';
import { readConfigMap } from './state/config-map-parts.ts';
import { ConfigMapStore } from './state/config-map-store.ts';
import { ScalingStates } from './state/scaling-states.ts';

export interface HpaEnvironment extends ControllerEnvironment {
  readonly registry: Registry;
  readonly options: HpaLoopOptions;
  readonly workQueues?: WorkQueueSeries | undefined;
  /** Targets with a fixed size, whose minReplicas do not change; none by default. */
  readonly pins?: Pick<TargetPins, 'isPinned'>;
  /** Queries the week before an HPA was first observed. */
  readonly queryPrometheus?: QueryPrometheus | undefined;
}

export interface HpaSubsystem extends Subsystem {
  readonly isSynced: boolean;
  /**
   * Returns a new controller for a leadership term, once the API server serves HPAs. Disposing it removes the reported
   * state of the term.
   *
   * @throws the reason of the signal when it aborts first
   */
  controller(signal: AbortSignal): Promise<Controller & AsyncDisposable>;
  readonly ui: readonly UiPart[];
  lead(signal: AbortSignal): Promise<void>;
}

/** HPAs that wait for their metrics concurrently; a flag limits how many are then decided. */
const WORKERS = 500;
/** Backoff after failures of the API server. */
const RETRY = { baseDelayMs: 1000, maxDelayMs: 60_000 };

const HPA_OMITTED = 'Cannot scale by metrics of HPA';
const POD_OMITTED = 'Cannot cache labels of pod; HPAs in the namespace of the pod do not scale by metrics';

/** Wires HPAs, pods, metrics → decision → state, scale, status, events. */
export function hpaSubsystem(environment: HpaEnvironment): HpaSubsystem {
  const { client, informers, clock, registry, logger } = environment;
  const hpas = informers.get(HPAS, { needs: HPA_NEEDS });
  const pods = informers.get(PODS, { needs: { fields: ['requests'] }, indexes: POD_INDEXES });
  logOmitted(pods, { logger, clock, kind: 'Pod', message: POD_OMITTED });
  logOmitted(hpas, { logger, clock, kind: 'HorizontalPodAutoscaler', message: HPA_OMITTED });
  const scales = new TargetScales(environment);
  const decisions = new DecisionLog();
  const series = new HpaSeries(registry, decisions);
  const others = new ExternalControllers(clock);
  const reader = {
    ...environment,
    usage: new NamespaceUsage({ client, clock }),
    customMetrics: new CustomMetricsApi({ client, clock }),
    values: new MetricValuesReader({ client, clock }),
  };
  const autoMinLog = new MinReplicasReport(registry);
  const { queryPrometheus } = environment;
  const weeks = queryPrometheus && new WeekFromPrometheus(queryPrometheus, clock);
  hpas.onChange(({ key, previous, current }) => {
    others.observe(key, previous, current);
    const { apiVersion = '', kind = '' } = current?.spec.scaleTargetRef ?? {};
    if (!previous) void scales.notice({ apiVersion, kind });
  });
  const isSynced = () => hpas.isSynced && pods.isSynced;

  async function controller(signal: AbortSignal): Promise<Controller & AsyncDisposable> {
    await hpas.served(signal);
    const hpaClient = hpaResourceClient(client, hpas);
    const store = new ConfigMapStore({
      clock,
      configMaps: new ResourceClient({ api: client, resource: CONFIG_MAPS, read: readConfigMap }),
      isKnown: (key) => hpas.find(hpaOfKey(key)) !== undefined,
    });
    const { options, pins } = environment;
    const share = new EventLoopShare(clock);
    const isPinned = (hpa: Hpa) => targetsOf(hpa).some((one) => pins?.isPinned(hpa.metadata.namespace, one));
    const controller = hpaController({
      ...environment,
      hpas,
      pods,
      others,
      decisions,
      series,
      scales,
      share,
      inputsReader: new InputsReader({
        ...{ ...environment, pods, reader, scales, share },
        config: options.config,
      }),
      statuses: new HpaStatusWriter({ hpas: hpaClient, others, clock }),
      states: new ScalingStates({
        store,
        clock,
        onUnread(namespace, error) {
          series.memoryUnread();
          logger.error(
            'Cannot read persisted HPA state; deciding without it, scaling down only after the stabilization window',
            error,
            { namespace },
          );
        },
      }),
      autoMin: new AutoMinReplicas({
        ...environment,
        store,
        isPinned,
        hpas: hpaClient,
        log: autoMinLog,
        options: options.autoMin,
        isDryRun: options.isDryRun,
        weekBefore: weeks && ((hpa, today, signal) => weeks.read(hpa, today, signal)),
        recordEvent: (hpa, event) => recordEvent(hpa, environment, event),
      }),
    });
    return {
      ...controller,
      // Another replica leads now: series and alerts of decisions made here would be outdated.
      async [Symbol.asyncDispose]() {
        decisions.clear();
        autoMinLog.clear();
        series.clear();
      },
    };
  }

  return {
    name: 'hpa',
    groups: [],
    healthChecks: [
      {
        name: 'hpa-informer-sync',
        endpoints: ['readyz'],
        check: () => (isSynced() ? undefined : 'HPAs and pods are not listed yet'),
      },
    ],
    endpoints: new Map([['/debug/hpa', debugHpa(decisions, autoMinLog)]]),
    ui: [hpaUi({ hpas, decisions, autoMin: autoMinLog, nowMs: () => clock.nowMs() })],
    start() {
      hpas.start();
      pods.start();
    },
    get isSynced() {
      return isSynced();
    },
    controller,
    async lead(signal) {
      const { workQueues, options } = environment;
      if (!options.isDryRun) logger.info(DISABLE_OTHER, { condition: 'ControlledElsewhere' });
      await using led = await controller(signal);
      await runController(led, { clock, logger, signal, workers: WORKERS, series: workQueues, queue: RETRY });
    },
    async [Symbol.asyncDispose]() {},
  };
}

const DISABLE_OTHER =
  'If kube-controller-manager still runs its HPA controller, disable it: ' +
  '--controllers=*,-horizontal-pod-autoscaler-controller (before 1.28 -horizontalpodautoscaling); HPAs whose status another controller writes are not scaled';

/** The objects whose pins apply to an HPA: its target and the HPA itself. */
function targetsOf({ metadata: { name }, spec: { scaleTargetRef } }: Hpa): readonly PinnedTarget[] {
  const { apiVersion = '', ...target } = scaleTargetRef;
  return [
    { apiVersion, ...target },
    { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name },
  ];
}

/** A status update sends all metadata: the API server would delete what is missing. */
const HPA_NEEDS: HpaNeeds = { fields: ['metadata', 'spec', 'status', 'statusWriters'] };

const CONFIG_MAPS: ApiResource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
