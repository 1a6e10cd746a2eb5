import type { DoctorPart } from '#lib/doctor/doctor.ts';
import type { Permission } from '#lib/doctor/permissions.ts';
import { CRON_HPA } from '../cron-hpa.ts';
import { activations } from './activations.ts';
import { definition } from './definition.ts';
import { CRON_HPA_DIAGNOSES, ExaminedCronHpas } from './examination.ts';
import { jobs } from './jobs.ts';
import { ownership } from './ownership.ts';
import { targets } from './targets.ts';

interface CronHpaDoctorOptions {
  /** Time zone of jobs that name none. */
  readonly timeZone: string;
  /** The namespace to examine; `undefined` for all. */
  readonly namespace: string | undefined;
}

/** The checks, permissions and diagnoses of Cron-HPA. */
export function cronHpaDoctor({ timeZone, namespace }: CronHpaDoctorOptions): DoctorPart {
  const examined = new ExaminedCronHpas(namespace);
  return {
    permissions: PERMISSIONS,
    checks: [
      definition,
      jobs(examined, { timeZone }),
      targets(examined),
      ownership(examined),
      activations(examined, { timeZone }),
    ],
    diagnoses: CRON_HPA_DIAGNOSES,
  };
}

const { group, plural } = CRON_HPA;
const HPAS = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };
/** Permissions for targets are checked for each target. */
const PERMISSIONS: readonly Permission[] = [
  ...['get', 'list', 'watch'].map((verb) => ({ verb, group, resource: plural })),
  { verb: 'patch', group, resource: `${plural}/status` },
  ...['get', 'list', 'watch', 'patch'].map((verb) => ({ verb, ...HPAS })),
];
