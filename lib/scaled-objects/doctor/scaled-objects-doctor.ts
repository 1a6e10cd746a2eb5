import type { DoctorPart } from '#lib/doctor/doctor-part.ts';
import type { Permission } from '#lib/doctor/permission.ts';
import { definitions, KINDS } from './definitions.ts';
import { SCALED_OBJECTS_DIAGNOSES } from './diagnoses.ts';
import { metricsProvider } from './metrics-provider.ts';
import { otherKeda } from './other-keda.ts';
import { type TriggersCheckOptions, triggers } from './triggers.ts';

/** What ScaledObjects bring to the doctor. */
export function scaledObjectsDoctor(options: TriggersCheckOptions): DoctorPart {
  return {
    permissions: PERMISSIONS,
    checks: [definitions, otherKeda, metricsProvider, triggers(options)],
    diagnoses: SCALED_OBJECTS_DIAGNOSES,
  };
}

const HPAS = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };
const PERMISSIONS: readonly Permission[] = [
  ...KINDS.flatMap(({ group, plural }) => [
    ...['get', 'list', 'watch', 'patch'].map((verb) => ({ verb, group, resource: plural })),
    { verb: 'patch', group, resource: `${plural}/status` },
  ]),
  ...['get', 'list', 'watch', 'create', 'patch', 'delete'].map((verb) => ({ verb, ...HPAS })),
  ...['deployments', 'statefulsets'].flatMap((resource) =>
    ['get', 'list', 'watch'].map((verb) => ({ verb, group: 'apps', resource })),
  ),
  ...['list', 'create', 'delete'].map((verb) => ({ verb, group: 'batch', resource: 'jobs' })),
  { verb: 'list', group: '', resource: 'pods' },
  { verb: 'list', group: 'discovery.k8s.io', resource: 'endpointslices' },
  { verb: 'list', group: '', resource: 'limitranges' },
];
