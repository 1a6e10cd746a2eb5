import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import type { MetricStore } from '#lib/collection/metric-store.ts';
import type { PollLimits } from '#lib/collection/poll-limits.ts';
import type { ControllerEnvironment, Subsystem } from '#lib/control/subsystem.ts';
import type { TargetPins } from '#lib/control/target-pins.ts';
import type { WorkQueueSeries } from '#lib/control/work-queue-series.ts';
import type { DoctorPart } from '#lib/doctor/doctor.ts';
import type { HpaEnvironment } from '#lib/hpa/hpa-subsystem.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { MetricsAdapterPartOptions } from '#lib/metrics-adapter/metrics-adapter-options.ts';
import type { ScaledObjectsFlags } from '#lib/scaled-objects/scaled-objects-options.ts';
import type { FindAddresses } from '#lib/sources/network/allowed-hosts.ts';
import type { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';

/** Singletons that subsystems share. */
export interface Runtime extends ControllerEnvironment {
  /** Reads references of triggers, with a rate limit of its own. */
  readonly reader: ApiClient;
  readonly registry: SlicedRegistry;
  readonly workQueues: WorkQueueSeries;
  readonly findAddresses: FindAddresses;
  readonly store: MetricStore;
  readonly pollLimits: PollLimits;
  readonly pins: TargetPins;
  readonly userAgent: string;
  readonly version: VersionInfo;
  /** Whether this replica reports what all replicas observe. */
  readonly isReporting: () => boolean;
}

/** What flags specify for the subsystems. */
export interface SubsystemOptions {
  readonly controllers: ReadonlySet<ControllerName>;
  readonly cronHpa: {
    readonly workers: number;
    readonly timeZone: string;
    readonly runsAlibaba: boolean;
  };
  readonly hpa: Pick<HpaEnvironment, 'options'> & Pick<MetricsAdapterPartOptions, 'prometheus' | 'sourceTls'>;
  readonly scaledObjects: ScaledObjectsFlags;
  /** `undefined` when neither metrics API is served. */
  readonly metricsAdapter: MetricsAdapterPartOptions | undefined;
}

/** A subsystem that flags can choose. Its modules are loaded only then, to save memory. */
interface SubsystemDefinition {
  isChosen(options: SubsystemOptions): boolean;
  /** @param stack disposes what the subsystem uses, after the subsystem */
  open(runtime: Runtime, options: SubsystemOptions, stack: AsyncDisposableStack): Promise<Subsystem>;
  /** Checks of the `doctor` command, which runs without the subsystem. */
  doctor?(options: SubsystemOptions, doctor: { readonly namespace: string | undefined }): Promise<DoctorPart>;
}

/** A subsystem that `--controllers` chooses. */
interface ControllerDefinition extends Omit<SubsystemDefinition, 'isChosen'> {
  /** Whether `*` includes it. */
  readonly isOnByDefault: boolean;
}

const METRICS_ADAPTER: SubsystemDefinition = {
  isChosen: ({ metricsAdapter }) => metricsAdapter !== undefined,
  async open(runtime, options, stack) {
    const { openMetricsAdapter } = await import('#lib/metrics-adapter/metrics-adapter.ts');
    return await openMetricsAdapter(metricsAdapterOf(options), runtime, stack);
  },
  async doctor(options, { namespace }) {
    const { doctorCollectors, metricsAdapterDoctor } = await import(
      '#lib/metrics-adapter/doctor/metrics-adapter-doctor.ts'
    );
    const metricsAdapter = metricsAdapterOf(options);
    const openCollectors = doctorCollectors(metricsAdapter);
    return metricsAdapterDoctor({ ...metricsAdapter, namespace, openCollectors });
  },
};

const CRON_HPA: ControllerDefinition = {
  isOnByDefault: true,
  async open(runtime, { cronHpa: options }) {
    const { cronHpaSubsystem } = await import('#lib/cron-hpa/cron-hpa-subsystem.ts');
    const cronHpa = cronHpaSubsystem({ ...runtime, ...options });
    runtime.pins.add(cronHpa.isPinned);
    return cronHpa;
  },
  async doctor({ cronHpa: { timeZone, runsAlibaba } }, { namespace }) {
    const { cronHpaDoctor } = await import('#lib/cron-hpa/doctor/cron-hpa-doctor.ts');
    return cronHpaDoctor({ timeZone, namespace, runsAlibaba });
  },
};

const HPA: ControllerDefinition = {
  isOnByDefault: false, // every cluster has an HPA controller, which has to be disabled first
  async open(runtime, { hpa }, stack) {
    const { hpaSubsystem } = await import('#lib/hpa/hpa-subsystem.ts');
    const queryPrometheus = await openPrometheus(hpa, runtime, stack);
    return hpaSubsystem({ ...runtime, options: hpa.options, queryPrometheus });
  },
  async doctor({ hpa: { options } }, { namespace }) {
    const { hpaDoctor } = await import('#lib/hpa/doctor/hpa-doctor.ts');
    return hpaDoctor({ syncPeriodMs: options.syncPeriodMs, namespace });
  },
};

const SCALED_OBJECTS: ControllerDefinition = {
  isOnByDefault: true, // leaves objects to KEDA while its operator is active
  async open(runtime, { scaledObjects: options }, stack) {
    const { openScaledObjects } = await import('#lib/scaled-objects/scaled-objects-subsystem.ts');
    return await openScaledObjects({ ...runtime, ...options }, stack);
  },
  async doctor({ scaledObjects: options }, { namespace }) {
    const { scaledObjectsDoctor } = await import('#lib/scaled-objects/doctor/scaled-objects-doctor.ts');
    return scaledObjectsDoctor({ ...options, namespace });
  },
};

const SCALING_SCHEDULES: SubsystemDefinition = {
  isChosen: ({ metricsAdapter }) => metricsAdapter?.scalingSchedule !== undefined,
  async open(runtime, options) {
    const { scalingScheduleSubsystem } = await import(
      '#lib/metrics-adapter/scaling-schedules/scaling-schedule-controller.ts'
    );
    const { scalingSchedule: defaults, relistMs } = metricsAdapterOf(options);
    if (!defaults) throw new Error('no flag enables scaling schedules');
    const { tolerance } = options.hpa.options.config;
    return scalingScheduleSubsystem({ ...runtime, defaults, relistMs, tolerance });
  },
};

/** By name in `--controllers`. */
const CONTROLLERS = {
  cronhpa: CRON_HPA,
  hpa: HPA,
  scaledobjects: SCALED_OBJECTS,
} as const satisfies Readonly<Record<string, ControllerDefinition>>;

export type ControllerName = keyof typeof CONTROLLERS;

export const CONTROLLER_NAMES = Object.keys(CONTROLLERS) as readonly ControllerName[];

/** The controllers that `*` includes. */
export const DEFAULT_CONTROLLERS = CONTROLLER_NAMES.filter((name) => CONTROLLERS[name].isOnByDefault);

/**
 * The subsystems of the autoscaler, in the order of their views on the page. docs/contributing/add-a-part.md lists
 * what a new one needs beside an entry here.
 */
export const SUBSYSTEMS: readonly SubsystemDefinition[] = [
  ...CONTROLLER_NAMES.map((name) => ({
    ...CONTROLLERS[name],
    isChosen: ({ controllers }: SubsystemOptions) => controllers.has(name),
  })),
  SCALING_SCHEDULES,
  METRICS_ADAPTER,
];

/**
 * Parses the controllers to run, as kube-controller-manager does: `*` is all that are on by default, `NAME` enables one,
 * `-NAME` disables one; the first match counts.
 *
 * @returns the names, or an error such as `"cron" must be one of …`
 */
export function selectControllers(list: readonly string[]): ReadonlySet<ControllerName> | string {
  const unknown = list.find(
    (entry) => entry !== '*' && !CONTROLLER_NAMES.some((name) => entry === name || entry === `-${name}`),
  );
  if (unknown !== undefined)
    return `"${unknown}" must be * or one of ${CONTROLLER_NAMES.join(', ')}, or one of these after a -`;
  return new Set(
    CONTROLLER_NAMES.filter((name) => {
      const first = list.find((entry) => entry === name || entry === `-${name}`);
      return first === undefined ? list.includes('*') && DEFAULT_CONTROLLERS.includes(name) : first === name;
    }),
  );
}

function metricsAdapterOf({ metricsAdapter }: SubsystemOptions): MetricsAdapterPartOptions {
  if (!metricsAdapter) throw new Error('no flag enables the metrics adapter');
  return metricsAdapter;
}

/** Returns a query function for the Prometheus server of the flags, if any. */
async function openPrometheus(
  { prometheus, sourceTls: everyTls }: SubsystemOptions['hpa'],
  runtime: Runtime,
  stack: AsyncDisposableStack,
): Promise<HpaEnvironment['queryPrometheus']> {
  if (!prometheus) return undefined;
  const { namedSources } = await import('#lib/metrics-adapter/named-sources.ts');
  const sourceTls = new Map([...everyTls].filter(([name]) => name === 'prometheus'));
  const noOther = { influxdb: undefined, zmon: undefined, nakadi: undefined, awsRegions: undefined };
  const named = { ...noOther, prometheus, additionalPrometheus: new Map(), sourceTls };
  const { server } = await namedSources(named, { ...runtime, stack });
  return server && ((query, signal) => server.query(query).run(signal));
}
