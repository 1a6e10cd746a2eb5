import { apiServer } from '#lib/doctor/api-server-check.ts';
import { ApiContext } from '#lib/doctor/cluster-context.ts';
import { examine } from '#lib/doctor/doctor.ts';
import { permissionsCheck } from '#lib/doctor/permissions.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AutoscalerOptions, DoctorOptions } from '../options/autoscaler-options.ts';
import { chosenNamespace } from './chosen-namespace.ts';
import { failed } from './diagnoses.ts';
import { doctorParts } from './doctor-parts.ts';

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
