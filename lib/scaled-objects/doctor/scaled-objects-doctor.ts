import { LEASES } from '#lib/control/lease.ts';
import type { DoctorPart } from '#lib/doctor/doctor.ts';
import type { Permission } from '#lib/doctor/permissions.ts';
import { WATCHED_KINDS } from '../api/resources.ts';
import { OPERATOR_LEASE } from '../coexistence/keda-lease.ts';
import type { ScaledObjectsOptions } from '../scaled-objects-options.ts';
import { definitions, ExaminedObjects, isAnyServed, whereServed } from './definitions.ts';
import { SCALED_OBJECTS_DIAGNOSES } from './diagnoses.ts';
import { metricsProvider } from './metrics-provider.ts';
import { objects } from './objects.ts';
import { runningKeda } from './running-keda.ts';
import { type TriggersCheckOptions, triggers } from './triggers.ts';

/** Permissions, checks and diagnoses of ScaledObjects. */
export function scaledObjectsDoctor(options: TriggersCheckOptions): DoctorPart {
  const examined = new ExaminedObjects(options.namespace);
  const checks = [
    runningKeda(examined, options.options),
    metricsProvider,
    objects(examined, options.namespace),
    triggers(examined, options),
  ];
  return {
    permissions: [...PERMISSIONS, ...leasePermissions(options.options)],
    isNeeded: isAnyServed,
    checks: [definitions, ...checks.map(whereServed)],
    diagnoses: SCALED_OBJECTS_DIAGNOSES,
  };
}

const HPAS = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };
const PERMISSIONS: readonly Permission[] = [
  ...WATCHED_KINDS.flatMap(({ group, plural }) => [
    ...['get', 'list', 'watch', 'patch'].map((verb) => ({ verb, group, resource: plural })),
    { verb: 'patch', group, resource: `${plural}/status` },
  ]),
  ...['list', 'watch', 'create', 'patch', 'delete'].map((verb) => ({ verb, ...HPAS })),
  ...['deployments', 'statefulsets'].flatMap((resource) =>
    ['get', 'list', 'watch'].map((verb) => ({ verb, group: 'apps', resource })),
  ),
  ...['list', 'create', 'delete'].map((verb) => ({ verb, group: 'batch', resource: 'jobs' })),
  { verb: 'list', group: '', resource: 'pods' },
  { verb: 'list', group: 'discovery.k8s.io', resource: 'endpointslices' },
  { verb: 'list', group: '', resource: 'limitranges' },
];

function leasePermissions({
  kedaNamespace: namespace,
  kedaLeaseEverywhere,
}: ScaledObjectsOptions): readonly Permission[] {
  if (namespace === '') return [];
  const lease = { group: LEASES.group, resource: LEASES.plural, name: OPERATOR_LEASE };
  const seen = `the lease of KEDA's operator is read in namespace ${namespace} only`;
  return [
    { verb: 'get', ...lease, namespace },
    ...(kedaLeaseEverywhere ? [{ verb: 'list', ...lease, instead: { resource: LEASES.plural, seen } }] : []),
  ];
}
