import { NameResolver } from '#lib/dns/name-resolver.ts';
import type { DoctorPart } from '#lib/doctor/doctor.ts';
import type { Permission } from '#lib/doctor/permissions.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { metricCollectors } from '../metric-collectors.ts';
import type { MetricsAdapterPartOptions } from '../metrics-adapter-options.ts';
import { apiServices } from './api-services.ts';
import { configurations } from './configurations.ts';
import {
  ExaminedMetrics,
  METRICS_DIAGNOSES,
  type MetricsGroup,
  type OpenCollectors,
} from './examined-metrics.ts';
import { servedValues } from './served-values.ts';
import { sources } from './sources.ts';

interface MetricsAdapterDoctorOptions {
  readonly servesCustom: boolean;
  readonly servesExternal: boolean;
  readonly openCollectors: OpenCollectors;
  /** `undefined` for all. */
  readonly namespace: string | undefined;
}

/** Checks of the metrics adapter: the chain from an annotation by its source to the response of the API. */
export function metricsAdapterDoctor(options: MetricsAdapterDoctorOptions): DoctorPart {
  const { servesCustom, servesExternal } = options;
  const groups: MetricsGroup[] = [
    ...(servesCustom ? (['custom.metrics.k8s.io'] as const) : []),
    ...(servesExternal ? (['external.metrics.k8s.io'] as const) : []),
  ];
  const examined = new ExaminedMetrics({ ...options, groups });
  return {
    permissions: [...PERMISSIONS, ...(servesCustom ? OF_PODS : [])],
    checks: [configurations(examined), apiServices(examined), sources(examined), servedValues(examined)],
    diagnoses: METRICS_DIAGNOSES,
  };
}

const HPAS = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };
const PERMISSIONS: readonly Permission[] = [
  { verb: 'list', ...HPAS },
  { verb: 'watch', ...HPAS, instead: { ...HPAS, seen: 'HPAs are listed every --resource-update-interval' } },
];
const PODS = { group: '', resource: 'pods' };
const OF_PODS: readonly Permission[] = [
  { verb: 'list', ...PODS },
  { verb: 'watch', ...PODS, instead: { ...PODS, seen: 'pods are listed every --resource-update-interval' } },
  ...['deployments', 'statefulsets', 'replicasets'].flatMap((resource) => [
    { verb: 'get', group: 'apps', resource },
    { verb: 'list', group: 'apps', resource, instead: { resource, seen: 'each object is read separately' } },
  ]),
];

const LOOKUP_TIMEOUT_MS = 5000;

/** Collectors that query as those of the autoscaler do; what they would log is in the findings. */
export function doctorCollectors(options: MetricsAdapterPartOptions): OpenCollectors {
  const logger = { info() {}, warning() {}, error() {} };
  return async ({ client, mapper, clock }, stack) => {
    const informers = stack.use(new SharedInformers({ client, mapper, clock, logger }));
    const environment = { client, mapper, informers, clock, logger, stack, schedules: undefined };
    const { collectors } = await metricCollectors(options, {
      ...environment,
      userAgent: 'autoscaler-doctor',
      findAddresses: NameResolver.ofSystem({ clock, timeoutMs: LOOKUP_TIMEOUT_MS }).findAddresses,
    });
    return collectors;
  };
}
