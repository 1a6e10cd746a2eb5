import { type Check, ok } from '#lib/doctor/check.ts';
import type { DoctorPart } from '#lib/doctor/doctor.ts';
import type { Permission } from '#lib/doctor/permissions.ts';
import { formatApiVersion } from '#lib/kubernetes/client/api-resource.ts';
import { CRON_HPA } from '../cron-hpa.ts';
import { activations } from './activations.ts';
import { CRON_HPA_DIAGNOSES, ExaminedCronHpas, failed } from './examination.ts';
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

/** Checks that the API server serves CronHorizontalPodAutoscalers with a status subresource. */
const definition: Check = {
  name: 'cronhpa-definition',
  title: 'Definition of CronHorizontalPodAutoscalers',

  async run({ mapper, signal }) {
    const { kind } = CRON_HPA;
    const apiVersion = formatApiVersion(CRON_HPA);
    const subject = `${plural}.${group}`;
    const resource = await mapper.findExact({ apiVersion, kind }, signal);
    if (!resource) {
      return [
        failed(subject, `the API server does not serve ${apiVersion}`, {
          diagnosis: 'cronhpa-definition-missing',
        }),
      ];
    }
    const hasStatus = resource.subresources?.includes('status') ?? true;
    return hasStatus
      ? [ok(subject, `served as ${apiVersion}`)]
      : [
          failed(subject, `${apiVersion} has no status subresource`, {
            diagnosis: 'cronhpa-definition-differs',
          }),
        ];
  },
};
