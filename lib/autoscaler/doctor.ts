import { apiServer } from '#lib/doctor/api-server-check.ts';
import { type Check, ok } from '#lib/doctor/check.ts';
import { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { type DoctorPart, examine } from '#lib/doctor/doctor.ts';
import { type Permission, permissionsCheck } from '#lib/doctor/permissions.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { pathSegment } from '#lib/kubernetes/path-segment.ts';
import type { Clock } from '#lib/time/clock.ts';
import { AUTOSCALER_DIAGNOSES, failed, leader } from './leader-diagnosis.ts';
import type { AutoscalerOptions, DoctorOptions } from './options/autoscaler-options.ts';
import { SUBSYSTEMS } from './subsystems.ts';

interface DoctorEnvironment {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  /** Prints findings, in whole lines. */
  readonly write: (text: string) => void;
}

/**
 * Examines why targets are not scaled, with the access of the autoscaler, and prints remedies.
 *
 * @returns whether no check failed
 */
export async function runDoctor(
  options: AutoscalerOptions,
  doctor: DoctorOptions,
  { write, ...environment }: DoctorEnvironment,
): Promise<boolean> {
  await using client = new ApiClient(environment);
  const context = new ClusterContext({ ...environment, client, serverAccount: doctor.serverAccount });
  const parts = await doctorParts(options, doctor);
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

/** The checks of the autoscaler and of each enabled subsystem. */
export async function doctorParts(
  options: AutoscalerOptions,
  doctor: DoctorOptions,
): Promise<readonly DoctorPart[]> {
  const parts = [autoscalerItself(options)];
  for (const subsystem of SUBSYSTEMS)
    if (subsystem.doctor && subsystem.isChosen(options)) parts.push(await subsystem.doctor(options, doctor));
  return parts;
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

/** Checks that the chosen namespace exists: in a misspelled one there is nothing to find. */
function chosenNamespace(namespace: string): Check {
  const subject = `namespace ${namespace}`;
  return {
    name: 'namespace',
    title: 'Namespace',

    async run(context) {
      const path = `/api/v1/namespaces/${pathSegment(namespace)}`;
      try {
        await context.get(path, `get namespaces ${namespace}`);
      } catch (error) {
        if (!(error instanceof ApiError) || error.statusCode !== 404) throw error;
        return [
          failed(subject, 'not found', {
            diagnosis: 'namespace-absent',
            NAMESPACE: namespace,
          }),
        ];
      }
      return [ok(subject, 'exists; only objects in this namespace are examined')];
    },
  };
}
