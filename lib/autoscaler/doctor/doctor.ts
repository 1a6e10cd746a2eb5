import { cronHpaDoctor } from '#lib/cron-hpa/doctor/cron-hpa-doctor.ts';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import { apiServer } from '#lib/doctor/api-server-check.ts';
import { type Check, ok } from '#lib/doctor/check.ts';
import { ApiContext } from '#lib/doctor/cluster-context.ts';
import { type DoctorPart, examine } from '#lib/doctor/doctor.ts';
import { type Permission, permissionsCheck } from '#lib/doctor/permissions.ts';
import { hpaDoctor } from '#lib/hpa/doctor/hpa-doctor.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import type { OpenCollectors } from '#lib/metrics-adapter/doctor/examined-metrics.ts';
import { metricsAdapterDoctor } from '#lib/metrics-adapter/doctor/metrics-adapter-doctor.ts';
import { metricCollectors } from '#lib/metrics-adapter/metric-collectors.ts';
import type { MetricsAdapterPartOptions } from '#lib/metrics-adapter/metrics-adapter-options.ts';
import { scaledObjectsDoctor } from '#lib/scaled-objects/doctor/scaled-objects-doctor.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AutoscalerOptions, DoctorOptions } from '../options/autoscaler-options.ts';
import { AUTOSCALER_DIAGNOSES, failed, leader } from './leader.ts';

/** What the doctor needs from outside. */
export interface DoctorEnvironment {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  /** Takes what is found, in whole lines. */
  readonly write: (text: string) => void;
}

/**
 * Looks why targets are not scaled, as the autoscaler sees the cluster, and says what to do about it.
 *
 * @returns whether nothing is wrong
 */
export async function runDoctor(
  options: AutoscalerOptions,
  doctor: DoctorOptions,
  { write, ...environment }: DoctorEnvironment,
): Promise<boolean> {
  await using client = new ApiClient(environment);
  const context = new ApiContext({ ...environment, client, serverAccount: doctor.serverAccount });
  const parts = doctorParts(options, doctor);
  const permissionsOf = async () => {
    const ofParts = parts.map(async ({ permissions, isNeeded }) =>
      (await isNeeded?.(context)) === false ? [] : permissions,
    );
    return (await Promise.all(ofParts)).flat();
  };
  const checks = [
    apiServer,
    permissionsCheck({ program: 'autoscaler', permissionsOf, failed }),
    ...(doctor.namespace === undefined ? [] : [chosenNamespace(doctor.namespace)]),
    ...parts.flatMap((part) => part.checks),
  ];
  return await examine(checks, context, { output: doctor.output, write });
}

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

/** Whether there is the namespace whose objects alone are looked at: of a misspelt one, nothing would be found wrong. */
function chosenNamespace(namespace: string): Check {
  const subject = `namespace ${namespace}`;
  return {
    name: 'namespace',
    title: 'Namespace',

    async run(context) {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
      try {
        await context.get(path, `get namespaces ${namespace}`);
      } catch (error) {
        if (!(error instanceof ApiError) || error.statusCode !== 404) throw error;
        return [
          failed(subject, 'the API server has none of this name', {
            diagnosis: 'namespace-absent',
            NAMESPACE: namespace,
          }),
        ];
      }
      return [ok(subject, 'exists: its objects alone are looked at')];
    },
  };
}
