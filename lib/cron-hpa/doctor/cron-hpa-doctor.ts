import type { DoctorPart } from '#lib/doctor/doctor.ts';
import type { Permission } from '#lib/doctor/permissions.ts';
import { CRON_HPA } from '../cron-hpa.ts';
import { activations } from './activations.ts';
import { definition } from './definition.ts';
import { CRON_HPA_DIAGNOSES, ExaminedCronHpas } from './examination.ts';
import { jobs } from './jobs.ts';
import { ownership } from './ownership.ts';
import { targets } from './targets.ts';

/** How Cron-HPA is looked at. */
export interface CronHpaDoctorOptions {
  /** Where the times of jobs are meant that do not tell. */
  readonly timeZone: string;
  /** The one namespace to look at; `undefined` for all. */
  readonly namespace: string | undefined;
}

/** What Cron-HPA brings to the doctor. */
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
/** What may be scaled is looked at target by target. */
const PERMISSIONS: readonly Permission[] = [
  ...['get', 'list', 'watch'].map((verb) => ({ verb, group, resource: plural })),
  { verb: 'patch', group, resource: `${plural}/status` },
  ...['get', 'list', 'watch', 'patch'].map((verb) => ({ verb, ...HPAS })),
];
