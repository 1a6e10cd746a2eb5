import { type Diagnoses, failedBy } from '#lib/doctor/check.ts';
import type { ApiContext } from '#lib/doctor/cluster-context.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { HPAS } from '#lib/kubernetes/objects/hpa-versions.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { CRON_HPA, CRON_HPAS, type CronHpa, readCronHpa } from '../cron-hpa.ts';
import { type Hpa, hpaOf, readHpa, targetsOfCronHpa, targetsOfHpa } from '../target-conflicts.ts';

/** An object as it was found. */
export interface ExaminedCronHpa {
  readonly namespace: string;
  readonly name: string;
  readonly createdAtMs: number;
  /** `undefined` where it is none that the controller can read. */
  readonly object: CronHpa | undefined;
  /** Why that is so. */
  readonly problem: string | undefined;
}

/** What the checks of one examination share: each list is asked for once. */
export class ExaminedCronHpas {
  readonly #namespace: string | undefined;
  #cronHpas: Promise<readonly ExaminedCronHpa[]> | undefined;
  #hpas: Promise<ReadonlyMap<string, readonly Hpa[]>> | undefined;

  /** @param namespace the one to look at; `undefined` for all */
  constructor(namespace: string | undefined) {
    this.#namespace = namespace;
  }

  /** All objects, those too that cannot be read; none where the API server does not know the kind. */
  async all(context: ApiContext): Promise<readonly ExaminedCronHpa[]> {
    this.#cronHpas ??= this.#list(context);
    return await this.#cronHpas;
  }

  /** Those for which something is done. */
  async readable(context: ApiContext): Promise<readonly (ExaminedCronHpa & { readonly object: CronHpa })[]> {
    const isReadable = (one: ExaminedCronHpa): one is ExaminedCronHpa & { readonly object: CronHpa } =>
      one.object !== undefined && !one.object.isBeingDeleted;
    return (await this.all(context)).filter(isReadable);
  }

  /** Finds the HPA that the object's jobs move, if there is one. */
  async hpaFinder(context: ApiContext): Promise<(object: CronHpa) => Hpa | undefined> {
    this.#hpas ??= this.#hpasByTarget(context);
    const byTarget = await this.#hpas;
    return (object) =>
      hpaOf(
        object,
        targetsOfCronHpa(object).flatMap((target) => byTarget.get(target) ?? []),
      );
  }

  async #hpasByTarget(context: ApiContext): Promise<ReadonlyMap<string, readonly Hpa[]>> {
    const collection = { path: collectionPath({ ...HPAS.resource, version: 'v1' }, this.#namespace) };
    const hpas = await context.list('horizontalpodautoscalers.autoscaling', collection, readHpa);
    const byTarget = new Map<string, Hpa[]>();
    for (const hpa of hpas) {
      for (const target of targetsOfHpa(hpa)) {
        const known = byTarget.get(target);
        if (known) known.push(hpa);
        else byTarget.set(target, [hpa]);
      }
    }
    return byTarget;
  }

  async #list(context: ApiContext): Promise<readonly ExaminedCronHpa[]> {
    const { group, version, kind, plural } = CRON_HPA;
    const served = await context.mapper.findExact(
      { apiVersion: `${group}/${version}`, kind },
      context.signal,
    );
    if (!served) return [];
    const collection = { path: collectionPath(CRON_HPAS, this.#namespace) };
    return await context.list(`${plural}.${group}`, collection, examined);
  }
}

/** As findings name an object, or one of its jobs. */
export function subjectOf({ namespace, name }: Pick<ExaminedCronHpa, 'namespace' | 'name'>, job?: string) {
  const subject = `cronhpa ${namespace}/${name}`;
  return job === undefined ? subject : `${subject} job ${JSON.stringify(job)}`;
}

function examined(value: unknown): ExaminedCronHpa {
  const metadata = propertyOf(value, 'metadata');
  const textOf = (name: string) => {
    const text = propertyOf(metadata, name);
    return typeof text === 'string' ? text : '';
  };
  const object = readCronHpa(value);
  const isReadable = object !== undefined && object.problem === undefined;
  return {
    namespace: textOf('namespace'),
    name: textOf('name'),
    createdAtMs: Date.parse(textOf('creationTimestamp')),
    object: isReadable ? object : undefined,
    problem: object?.problem,
  };
}

/** Everything that the doctor can find wrong with scaling by the clock. */
export const CRON_HPA_DIAGNOSES = {
  'cronhpa-definition-missing': {
    title: 'The definition of CronHorizontalPodAutoscalers is not installed',
    remedy: 'Run `kubectl apply -k manifests/crds`, or leave the controller out by --controllers=*,-cronhpa.',
  },
  'cronhpa-definition-differs': {
    title: 'The definition of CronHorizontalPodAutoscalers is not ours',
    remedy:
      'Run `kubectl apply -k manifests/crds`: without the status subresource, what was done cannot be remembered.',
  },
  'cronhpa-unreadable': {
    title: 'A CronHorizontalPodAutoscaler cannot be read',
    remedy:
      'Compare `kubectl -n NAMESPACE get cronhpa NAME -o yaml` with `kubectl explain cronhpa.spec`: it was stored under another definition, and nothing is done for it.',
  },
  'cronhpa-schedule-invalid': {
    title: 'The schedule of a job cannot be read',
    remedy:
      'Correct `schedule`, `timeZone` or `excludeDates`: `kubectl -n NAMESPACE edit cronhpa NAME`; docs/reference/cron-hpa.md has the forms that there are.',
  },
  'cronhpa-job-never-due': {
    title: 'A job is never due',
    remedy:
      'Give the job another schedule, or fewer days that are excluded: `kubectl -n NAMESPACE edit cronhpa NAME`.',
  },
  'cronhpa-job-repeated': {
    title: 'Two jobs have one name',
    remedy: 'Give one of them another name: `kubectl -n NAMESPACE edit cronhpa NAME`.',
  },
  'cronhpa-target-kind-unknown': {
    title: 'Nothing serves the kind of a target',
    remedy:
      'Correct `apiVersion` and `kind` of its scaleTargetRef by `kubectl -n NAMESPACE edit cronhpa NAME`, or install what defines KIND: `kubectl api-resources` lists what there is.',
  },
  'cronhpa-target-not-scalable': {
    title: 'The kind of a target cannot be scaled',
    remedy:
      'Name a target that has the scale subresource, as Deployments and StatefulSets do; where KIND is a custom resource, its definition can give it one by subresources.scale.',
  },
  'cronhpa-target-missing': {
    title: 'A target does not exist',
    remedy:
      'Create it, or correct the scaleTargetRef: `kubectl -n NAMESPACE edit cronhpa NAME`; the activation that holds is made up for once the target is there.',
  },
  'cronhpa-target-forbidden': {
    title: 'A target may not be scaled',
    remedy:
      'Let the autoscaler scale such targets, by the ClusterRole autoscaler-scale in `manifests/components/cron-hpa/rbac.yaml` or the value scaleResources of the chart: verbs get and update, apiGroup "GROUP", resource RESOURCE.',
  },
  'cronhpa-target-contended': {
    title: 'Two CronHorizontalPodAutoscalers have one target',
    remedy:
      'Put the jobs of both into one, and delete the other: `kubectl -n NAMESPACE delete cronhpa NAME`. Until then neither scales.',
  },
  'cronhpa-hpa-owned': {
    title: 'The HorizontalPodAutoscaler of a target belongs to a ScaledObject',
    remedy:
      'Have the ScaledObject scale by the clock (a trigger of the type cron), and delete this: `kubectl -n NAMESPACE delete cronhpa NAME`; or delete the ScaledObject.',
  },
  'cronhpa-hpa-missing': {
    title: 'A target has no HorizontalPodAutoscaler, though its minReplicas are to be moved',
    remedy:
      'Create one with the same target, or take the annotation away, so that replicas are set: `kubectl -n NAMESPACE annotate cronhpa NAME platform.stke/adjust-hpa-min-`.',
  },
  'cronhpa-size-zero': {
    title: 'A HorizontalPodAutoscaler cannot have the size 0',
    remedy:
      'Give the job a targetSize of 1 or more (`kubectl -n NAMESPACE edit cronhpa NAME`), or delete the HorizontalPodAutoscaler of the target.',
  },
  'cronhpa-unattended': {
    title: 'Nobody carries out the jobs of an object',
    remedy:
      'See what is said above of the leader, that it runs with --controllers=cronhpa, and what its log says of NAMESPACE/NAME.',
  },
  'cronhpa-job-failed': {
    title: 'The last activation of a job failed',
    remedy:
      'Mend what the message tells: the activation is tried again, after a minute at most, until the next is due. `kubectl -n NAMESPACE describe cronhpa NAME` has the events.',
  },
} as const satisfies Diagnoses;

/** Makes the finding that one of them is. */
export const failed = failedBy(CRON_HPA_DIAGNOSES);
