import { runController } from '#lib/control/controller.ts';
import type { Subsystem } from '#lib/control/subsystem.ts';
import type { WorkQueueSeries } from '#lib/control/work-queue-metrics.ts';
import { type HpaEnvironment, hpaSubsystem } from '#lib/hpa/hpa-subsystem.ts';
import type { HpaUiPart } from '#lib/hpa/observability/hpa-ui.ts';
import type { MetricsAdapterPartOptions } from '#lib/metrics-adapter/metrics-adapter-options.ts';
import type { FindAddresses } from '#lib/sources/network/allowed-hosts.ts';

/** What the HPA controller needs as a part of the autoscaler. */
export interface HpaPartEnvironment
  extends Omit<HpaEnvironment, 'askPrometheus'>,
    Pick<MetricsAdapterPartOptions, 'prometheus' | 'sourceTls'> {
  readonly workQueues: WorkQueueSeries;
  readonly userAgent: string;
  readonly findAddresses: FindAddresses | undefined;
}

/** So many HPAs may wait for their metrics at once; how many are acted on meanwhile, a flag says. */
const WORKERS = 500;
/** Failures of the API server itself are tried again after this long, and at the latest after a minute. */
const RETRY = { baseDelayMs: 1000, maxDelayMs: 60_000 };

/**
 * The HPA controller as a part of the autoscaler: it caches HPAs and pods, and acts while it leads.
 *
 * @throws when what flags say of Prometheus cannot be used
 */
export async function hpaPart(environment: HpaPartEnvironment): Promise<Subsystem<HpaUiPart>> {
  const { workQueues: series, clock, logger, options } = environment;
  await using starting = new AsyncDisposableStack();
  const askPrometheus = await openPrometheus(environment, starting);
  const hpa = hpaSubsystem({ ...environment, askPrometheus });
  const owned = starting.move();
  return {
    name: 'hpa',
    groups: [],
    healthChecks: [
      {
        name: 'hpa-informer-sync',
        endpoints: ['readyz'],
        check: () => (hpa.isSynced ? undefined : 'HPAs and pods have not been listed yet'),
      },
    ],
    endpoints: hpa.endpoints,
    ui: hpa.ui,
    start: () => hpa.start(),
    async lead(signal) {
      if (!options.isDryRun) logger.info(TELL_THE_OTHER, { condition: 'ControlledElsewhere' });
      await using controller = await hpa.controller(signal).catch(() => undefined); // does not lead any more
      if (!controller) return;
      const run = { clock, logger, signal, workers: WORKERS, series, queue: RETRY };
      await runController(controller, run);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What asks the Prometheus server that flags name, if they name one. */
async function openPrometheus(
  { prometheus, sourceTls: everyTls, ...environment }: HpaPartEnvironment,
  stack: AsyncDisposableStack,
): Promise<HpaEnvironment['askPrometheus']> {
  if (!prometheus) return undefined;
  const { namedSources } = await import('#lib/metrics-adapter/named-sources.ts');
  const sourceTls = new Map([...everyTls].filter(([name]) => name === 'prometheus'));
  const noOther = { influxdb: undefined, zmon: undefined, nakadi: undefined, awsRegions: undefined };
  const named = { ...noOther, prometheus, additionalPrometheus: new Map(), sourceTls };
  const { server } = await namedSources(named, { ...environment, stack });
  return server && ((query, signal) => server.query(query).ask(signal));
}

const TELL_THE_OTHER =
  'Deciding HorizontalPodAutoscalers: kube-controller-manager must leave them alone by ' +
  '--controllers=*,-horizontal-pod-autoscaler-controller (before 1.28 -horizontalpodautoscaling), and those on which ' +
  'another controller acts are left alone';
