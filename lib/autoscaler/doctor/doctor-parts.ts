import { cronHpaDoctor } from '#lib/cron-hpa/doctor/cron-hpa-doctor.ts';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import type { DoctorPart } from '#lib/doctor/doctor.ts';
import type { Permission } from '#lib/doctor/permissions.ts';
import { hpaDoctor } from '#lib/hpa/doctor/hpa-doctor.ts';
import type { OpenCollectors } from '#lib/metrics-adapter/doctor/examined-metrics.ts';
import { metricsAdapterDoctor } from '#lib/metrics-adapter/doctor/metrics-adapter-doctor.ts';
import { metricCollectors } from '#lib/metrics-adapter/metric-collectors.ts';
import { scaledObjectsDoctor } from '#lib/scaled-objects/doctor/scaled-objects-doctor.ts';
import type { AutoscalerOptions, DoctorOptions } from '../options/autoscaler-options.ts';
import type { MetricsAdapterPartOptions } from '../options/metrics-adapter-options.ts';
import { AUTOSCALER_DIAGNOSES } from './diagnoses.ts';
import { leader } from './leader.ts';

const LOOKUP_TIMEOUT_MS = 5000;

/** What the doctor looks at: the autoscaler itself, and what each subsystem brings that the flags chose. */
export function doctorParts(options: AutoscalerOptions, { namespace }: DoctorOptions): readonly DoctorPart[] {
  const parts = [autoscalerItself(options)];
  if (options.controllers.has('cronhpa'))
    parts.push(cronHpaDoctor({ timeZone: options.cronHpa.timeZone, namespace }));
  if (options.controllers.has('hpa'))
    parts.push(hpaDoctor({ syncPeriodMs: options.hpa.options.syncPeriodMs, namespace }));
  if (options.controllers.has('scaledobjects'))
    parts.push(scaledObjectsDoctor({ ...options.scaledObjects, namespace }));
  const { metricsAdapter } = options;
  if (metricsAdapter) {
    const openCollectors = collectorsOf(metricsAdapter);
    parts.push(metricsAdapterDoctor({ ...metricsAdapter, namespace, openCollectors }));
  }
  return parts;
}

/** Collectors of the doctor's own, which ask as those of the autoscaler do; what they would log, findings tell. */
function collectorsOf(options: MetricsAdapterPartOptions): OpenCollectors {
  const logger = { info() {}, warning() {}, error() {} };
  return async ({ client, mapper, clock }, stack) => {
    const environment = { client, mapper, clock, logger, stack, schedules: undefined };
    const { collectors } = await metricCollectors(options, {
      ...environment,
      userAgent: 'autoscaler-doctor',
      findAddresses: NameResolver.ofSystem({ clock, timeoutMs: LOOKUP_TIMEOUT_MS }).findAddresses,
    });
    return collectors;
  };
}

function autoscalerItself({ controllers, leaderElection }: AutoscalerOptions): DoctorPart {
  const acts = controllers.size > 0;
  return {
    permissions: [
      { verb: 'create', group: 'authentication.k8s.io', resource: 'tokenreviews' },
      { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' },
      ...['get', 'list', 'watch'].map((verb) => ({ verb, ...FRONT_PROXY })),
      ...(acts ? ['create', 'patch'].map((verb) => ({ verb, ...EVENTS })) : []),
      ...(acts && leaderElection ? leasePermissions(leaderElection.lease) : []),
    ],
    checks: acts ? [leader(leaderElection)] : [],
    diagnoses: AUTOSCALER_DIAGNOSES,
  };
}

const FRONT_PROXY = {
  group: '',
  resource: 'configmaps',
  namespace: 'kube-system',
  name: 'extension-apiserver-authentication',
};
const EVENTS = { group: 'events.k8s.io', resource: 'events' };

function leasePermissions({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): readonly Permission[] {
  const leases = { group: 'coordination.k8s.io', resource: 'leases', namespace };
  return [{ verb: 'create', ...leases }, ...['get', 'update'].map((verb) => ({ verb, ...leases, name }))];
}
