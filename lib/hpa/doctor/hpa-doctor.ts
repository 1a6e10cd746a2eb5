import type { DoctorPart } from '#lib/doctor/doctor.ts';
import type { Permission } from '#lib/doctor/permissions.ts';
import { CONFIG_MAP_NAMES } from '../state/config-map-parts.ts';
import { annotations } from './annotations.ts';
import { ExaminedHpas, HPA_DIAGNOSES } from './examination.ts';
import { otherControllers } from './external-controllers.ts';
import { metricsApis } from './metrics-apis.ts';
import { targets } from './targets.ts';

interface HpaDoctorOptions {
  readonly syncPeriodMs: number;
  /** The namespace to examine; `undefined` for all. */
  readonly namespace: string | undefined;
}

/** Number of periods without a write after which another controller is considered inactive. */
const QUIET_PERIODS = 3;

/** The checks, permissions and diagnoses of the HPA controller. */
export function hpaDoctor({ syncPeriodMs, namespace }: HpaDoctorOptions): DoctorPart {
  const examined = new ExaminedHpas(namespace);
  return {
    permissions: PERMISSIONS,
    checks: [
      otherControllers(examined, { latelyMs: QUIET_PERIODS * syncPeriodMs }),
      metricsApis(examined),
      targets(examined),
      annotations(examined, { syncPeriodMs }),
    ],
    diagnoses: HPA_DIAGNOSES,
  };
}

const HPAS = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };
const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const PERMISSIONS: readonly Permission[] = [
  ...['get', 'list', 'watch', 'patch'].map((verb) => ({ verb, ...HPAS })),
  { verb: 'update', group: HPAS.group, resource: `${HPAS.resource}/status` },
  ...['list', 'watch'].map((verb) => ({ verb, group: '', resource: 'pods' })),
  { verb: 'list', group: 'metrics.k8s.io', resource: 'pods' },
  ...['deployments', 'replicasets', 'statefulsets'].flatMap((resource) =>
    ['list', 'watch'].map((verb) => ({ verb, group: 'apps', resource })),
  ),
  { verb: 'create', ...CONFIG_MAPS },
  ...CONFIG_MAP_NAMES.flatMap((name) =>
    ['get', 'update', 'delete'].map((verb) => ({ verb, ...CONFIG_MAPS, name })),
  ),
];
