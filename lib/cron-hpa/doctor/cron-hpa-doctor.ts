import { type Check, type Finding, note, ok } from '#lib/doctor/check.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import type { DoctorPart } from '#lib/doctor/doctor.ts';
import type { Permission } from '#lib/doctor/permissions.ts';
import { type ApiResource, formatApiVersion } from '#lib/kubernetes/client/api-resource.ts';
import { CRON_HPA } from '../cron-hpa.ts';
import type { CronHpaKind } from '../cron-hpa-kind.ts';
import { cronHpaKinds, type EnabledKinds } from '../cron-hpa-kinds.ts';
import { activations } from './activations.ts';
import { CRON_HPA_DIAGNOSES, ExaminedCronHpas, failed } from './examination.ts';
import { jobs } from './jobs.ts';
import { ownership } from './ownership.ts';
import { targets } from './targets.ts';

interface CronHpaDoctorOptions extends EnabledKinds {
  /** Time zone of jobs that name none. */
  readonly timeZone: string;
  /** The namespace to examine; `undefined` for all. */
  readonly namespace: string | undefined;
}

/** The checks, permissions and diagnoses of Cron-HPA. */
export function cronHpaDoctor({ timeZone, namespace, ...enabled }: CronHpaDoctorOptions): DoctorPart {
  const kinds = cronHpaKinds(enabled);
  const [, ...others] = kinds;
  const examined = new ExaminedCronHpas(namespace, kinds);
  return {
    permissions: [...PERMISSIONS, ...others.flatMap(({ resource }) => permissionsOf(resource))],
    checks: [
      definition(others),
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

/** Other kinds have no status subresource. */
function permissionsOf({ group, plural: resource }: ApiResource): readonly Permission[] {
  return ['get', 'list', 'watch', 'patch'].map((verb) => ({ verb, group, resource }));
}

/** Checks that the API server serves CronHorizontalPodAutoscalers with a status subresource, and other kinds. */
function definition(others: readonly CronHpaKind[]): Check {
  return {
    name: 'cronhpa-definition',
    title: 'Definition of CronHorizontalPodAutoscalers',

    async run(context) {
      return [...(await ownFindings(context)), ...(await otherFindings(others, context))];
    },
  };
}

async function otherFindings(
  kinds: readonly CronHpaKind[],
  { mapper, signal }: ClusterContext,
): Promise<readonly Finding[]> {
  const found = kinds.map(async ({ resource }) => {
    const apiVersion = formatApiVersion(resource);
    const subject = `${resource.plural}.${resource.group}`;
    const served = await mapper.findExact({ apiVersion, kind: resource.kind }, signal);
    return served
      ? ok(subject, `served as ${apiVersion}`)
      : note(subject, `the API server does not serve ${apiVersion}`);
  });
  return await Promise.all(found);
}

async function ownFindings({ mapper, signal }: ClusterContext): Promise<readonly Finding[]> {
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
}
