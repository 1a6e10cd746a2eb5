import type { Registry } from 'prom-client';
import { type Controller, runController } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ScaleLog } from '#lib/control/scale-log.ts';
import type { Subsystem } from '#lib/control/subsystem.ts';
import type { PinnedTarget, TargetPins } from '#lib/control/target-pins.ts';
import type { WorkQueueSeries } from '#lib/control/work-queue-metrics.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { HPAS, type Hpa, type HpaNeeds } from '#lib/kubernetes/objects/hpa-versions.ts';
import { POD_INDEXES, PODS } from '#lib/kubernetes/objects/pod.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { OtherControllers } from './external-controllers.ts';
import { type HpaLoopOptions, hpaController, tell } from './hpa-controller.ts';
import { hpaResourceClient, StatusClient } from './hpa-status-writer.ts';
import { CustomMetricsApi, MetricValuesReader } from './inputs/custom-metrics-client.ts';
import { ReadWorld } from './inputs/inputs-reader.ts';
import { NamespaceUsage } from './inputs/pod-metrics-client.ts';
import { FollowedScales } from './inputs/target-scales.ts';
import { AutoMinReplicas } from './min-replicas/auto-min-replicas.ts';
import { AutoMinLog } from './min-replicas/min-replicas-report.ts';
import { hpaOfKey } from './min-replicas/persisted-weeks.ts';
import { type AskPrometheus, WeekFromPrometheus } from './min-replicas/week-from-prometheus.ts';
import { debugHpa } from './observability/debug-hpa.ts';
import { DecisionLog } from './observability/decision-log.ts';
import { HpaSeries } from './observability/hpa-series.ts';
import { type HpaUiPart, hpaUi } from './observability/hpa-ui.ts';
import type { ConfigMap } from './state/config-map-parts.ts';
import { MemoryStore } from './state/config-map-store.ts';
import { HpaMemories } from './state/scaling-states.ts';

/** What the HPA controller needs from outside. */
export interface HpaEnvironment {
  readonly client: ApiClient;
  readonly mapper: RestMapper;
  readonly informers: SharedInformers;
  readonly scales: ScaleClient;
  readonly scaleLog: ScaleLog;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly options: HpaLoopOptions;
  readonly workQueues?: WorkQueueSeries | undefined;
  /** Targets that others keep at a size, so that their minReplicas are left alone; by default none. */
  readonly pins?: Pick<TargetPins, 'isPinned'>;
  /** Where the week before the first sight of an HPA is read. */
  readonly askPrometheus?: AskPrometheus | undefined;
}

/** The HPA controller, ready to be started. */
export interface HpaSubsystem extends Subsystem<HpaUiPart> {
  readonly isSynced: boolean;
  /**
   * What the leader runs: a new one for each term, once the API server serves HPAs. Disposing it ends what is reported of the
   * term.
   *
   * @throws the signal's reason when it aborts first
   */
  controller(signal: AbortSignal): Promise<Controller & AsyncDisposable>;
  readonly ui: readonly HpaUiPart[];
  lead(signal: AbortSignal): Promise<void>;
}

/** So many HPAs may wait for their metrics at once; how many are acted on meanwhile, a flag says. */
const WORKERS = 500;
/** Failures of the API server itself are tried again after this long, and at the latest after a minute. */
const RETRY = { baseDelayMs: 1000, maxDelayMs: 60_000 };

/** Puts the HPA controller together: HPAs, pods, metrics → decision → memory, scale, status, events. */
export function hpaSubsystem(environment: HpaEnvironment): HpaSubsystem {
  const { client, informers, clock, registry, logger } = environment;
  const hpas = informers.get(HPAS, { needs: HPA_NEEDS });
  const pods = informers.get(PODS, { needs: { fields: ['requests'] }, indexes: POD_INDEXES });
  const scales = new FollowedScales(environment);
  const decisions = new DecisionLog();
  const series = new HpaSeries(registry, decisions);
  const others = new OtherControllers(clock);
  const reader = {
    ...environment,
    usage: new NamespaceUsage({ client, clock }),
    customMetrics: new CustomMetricsApi({ client, clock }),
    values: new MetricValuesReader({ client, clock }),
  };
  const autoMinLog = new AutoMinLog(registry);
  const { askPrometheus } = environment;
  const weeks = askPrometheus && new WeekFromPrometheus(askPrometheus, clock);
  hpas.onChange(({ key, previous, current }) => {
    others.observe(key, previous, current);
    const { apiVersion = '', kind = '' } = current?.spec.scaleTargetRef ?? {};
    if (!previous) void scales.notice({ apiVersion, kind });
  });
  const isSynced = () => hpas.isSynced && pods.isSynced;

  async function controller(signal: AbortSignal): Promise<Controller & AsyncDisposable> {
    const resource = await hpas.served(signal);
    const hpaClient = hpaResourceClient(client, resource);
    const store = new MemoryStore({
      configMaps: new ResourceClient<ConfigMap>({ api: client, resource: CONFIG_MAPS }),
      isKnown: (key) => hpas.find(hpaOfKey(key)) !== undefined,
    });
    const { options, pins } = environment;
    const isHeldUp = (hpa: Hpa) => targetsOf(hpa).some((one) => pins?.isPinned(hpa.metadata.namespace, one));
    const controller = hpaController({
      ...environment,
      hpas,
      pods,
      others,
      decisions,
      series,
      scales,
      readWorld: new ReadWorld({ ...environment, pods, reader, scales, config: options.config }),
      statuses: new StatusClient({ hpas: hpaClient, others, clock }),
      memories: new HpaMemories({
        store,
        clock,
        onUnread(namespace, error) {
          series.memoryUnread();
          logger.error(
            'Cannot read what is remembered of HPAs; they are decided without it, and scaled down no earlier than after their windows',
            error,
            { namespace },
          );
        },
      }),
      autoMin: new AutoMinReplicas({
        ...environment,
        store,
        isHeldUp,
        hpas: hpaClient,
        log: autoMinLog,
        options: options.autoMin,
        isDryRun: options.isDryRun,
        weekBefore: weeks && ((hpa, today, signal) => weeks.of(hpa, today, signal)),
        tell: (hpa, event) => tell(hpa, environment, event),
      }),
    });
    return {
      ...controller,
      // Another leads now: what was decided here would be told on, though it is not so any more, and alerts with it.
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
        check: () => (isSynced() ? undefined : 'HPAs and pods have not been listed yet'),
      },
    ],
    endpoints: new Map([['/debug/hpa', debugHpa(decisions, autoMinLog)]]),
    ui: [hpaUi({ decisions, autoMin: autoMinLog, nowMs: () => clock.nowMs() })],
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
      if (!options.isDryRun) logger.info(TELL_THE_OTHER, { condition: 'ControlledElsewhere' });
      await using led = await controller(signal).catch(() => undefined); // does not lead any more
      if (!led) return;
      await runController(led, { clock, logger, signal, workers: WORKERS, series: workQueues, queue: RETRY });
    },
    async [Symbol.asyncDispose]() {},
  };
}

const TELL_THE_OTHER =
  'Deciding HorizontalPodAutoscalers: kube-controller-manager must leave them alone by ' +
  '--controllers=*,-horizontal-pod-autoscaler-controller (before 1.28 -horizontalpodautoscaling), and those on which ' +
  'another controller acts are left alone';

/** What may be pinned to pin what an HPA scales: its target, or the HPA itself. */
function targetsOf({ metadata: { name }, spec: { scaleTargetRef } }: Hpa): readonly PinnedTarget[] {
  const { apiVersion = '', ...target } = scaleTargetRef;
  return [
    { apiVersion, ...target },
    { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name },
  ];
}

/** A status is sent with all metadata of its HPA: what is left out would be deleted. */
const HPA_NEEDS: HpaNeeds = { fields: ['metadata', 'spec', 'status', 'statusWriters'] };

const CONFIG_MAPS: ApiResource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
