import { type Diagnoses, failedBy } from '#lib/doctor/check.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { collectionPath, formatApiVersion } from '#lib/kubernetes/client/api-resource.ts';
import { HPAS } from '#lib/kubernetes/objects/hpa-versions.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { CronHpa } from '../cron-hpa.ts';
import type { CronHpaKind } from '../cron-hpa-kind.ts';
import { type Hpa, hpaOf, readHpa, targetsOfCronHpa, targetsOfHpa } from '../target-conflicts.ts';

export interface ExaminedCronHpa {
  readonly namespace: string;
  readonly name: string;
  readonly createdAtMs: number;
  /** `undefined` for an object that the controller cannot read. */
  readonly object: CronHpa | undefined;
  readonly problem: string | undefined;
}

/** The objects that the checks of one examination share; each list is requested once. */
export class ExaminedCronHpas {
  readonly #namespace: string | undefined;
  readonly #kinds: readonly CronHpaKind[];
  #cronHpas: Promise<readonly ExaminedCronHpa[]> | undefined;
  #hpas: Promise<ReadonlyMap<string, readonly Hpa[]>> | undefined;

  /** @param namespace the namespace to examine; `undefined` for all */
  constructor(namespace: string | undefined, kinds: readonly CronHpaKind[]) {
    this.#namespace = namespace;
    this.#kinds = kinds;
  }

  /** All objects, including unreadable ones; none of a kind that the API server does not serve. */
  async all(context: ClusterContext): Promise<readonly ExaminedCronHpa[]> {
    this.#cronHpas ??= this.#list(context);
    return await this.#cronHpas;
  }

  /** Readable objects that are not being deleted. */
  async readable(
    context: ClusterContext,
  ): Promise<readonly (ExaminedCronHpa & { readonly object: CronHpa })[]> {
    const isReadable = (one: ExaminedCronHpa): one is ExaminedCronHpa & { readonly object: CronHpa } =>
      one.object !== undefined && !one.object.isBeingDeleted;
    return (await this.all(context)).filter(isReadable);
  }

  /** Returns a function that finds the HPA of an object's target. */
  async hpaFinder(context: ClusterContext): Promise<(object: CronHpa) => Hpa | undefined> {
    this.#hpas ??= this.#hpasByTarget(context);
    const byTarget = await this.#hpas;
    return (object) =>
      hpaOf(
        object,
        targetsOfCronHpa(object).flatMap((target) => byTarget.get(target) ?? []),
      );
  }

  async #hpasByTarget(context: ClusterContext): Promise<ReadonlyMap<string, readonly Hpa[]>> {
    const collection = { path: collectionPath({ ...HPAS.resource, version: 'v1' }, this.#namespace) };
    const hpas = await context.list('horizontalpodautoscalers.autoscaling', collection, readHpa);
    const byTarget = new Map<string, Hpa[]>();
    for (const hpa of hpas) {
      for (const target of targetsOfHpa(hpa)) {
        const hpas = byTarget.get(target);
        if (hpas) hpas.push(hpa);
        else byTarget.set(target, [hpa]);
      }
    }
    return byTarget;
  }

  async #list(context: ClusterContext): Promise<readonly ExaminedCronHpa[]> {
    const lists = this.#kinds.map(async ({ resource, read }) => {
      const { group, kind, plural } = resource;
      const apiVersion = formatApiVersion(resource);
      if (!(await context.mapper.findExact({ apiVersion, kind }, context.signal))) return [];
      const collection = { path: collectionPath(resource, this.#namespace) };
      return await context.list(`${plural}.${group}`, collection, (value) => examined(value, read));
    });
    return (await Promise.all(lists)).flat();
  }
}

/** The subject of findings about all objects. */
export const OBJECTS = 'cronhpas';

/** The subject of findings about an object or one of its jobs. */
export function subjectOf({ namespace, name }: Pick<ExaminedCronHpa, 'namespace' | 'name'>, job?: string) {
  const subject = `cronhpa ${namespace}/${name}`;
  return job === undefined ? subject : `${subject} job ${JSON.stringify(job)}`;
}

function examined(value: unknown, read: CronHpaKind['read']): ExaminedCronHpa {
  const metadata = propertyOf(value, 'metadata');
  const textOf = (name: string) => {
    const text = propertyOf(metadata, name);
    return typeof text === 'string' ? text : '';
  };
  const object = read(value);
  const isReadable = object !== undefined && object.problem === undefined;
  return {
    namespace: textOf('namespace'),
    name: textOf('name'),
    createdAtMs: Date.parse(textOf('creationTimestamp')),
    object: isReadable ? object : undefined,
    problem: object?.problem,
  };
}

export const CRON_HPA_DIAGNOSES = {
  'cronhpa-definition-missing': {
    title: 'The definition of CronHorizontalPodAutoscalers is not installed',
    remedy: 'Run `kubectl apply -k manifests/crds`, or disable the controller with --controllers=*,-cronhpa.',
  },
  'cronhpa-definition-differs': {
    title: 'The definition of CronHorizontalPodAutoscalers has no status subresource',
    remedy:
      'Run `kubectl apply -k manifests/crds`: without the status subresource, the controller cannot record completed activations.',
  },
  'cronhpa-unreadable': {
    title: 'A CronHorizontalPodAutoscaler is malformed',
    remedy:
      'Compare `kubectl -n NAMESPACE get cronhpa NAME -o yaml` with `kubectl explain cronhpa.spec`: another definition admitted the object, and the controller ignores it.',
  },
  'cronhpa-schedule-invalid': {
    title: 'The schedule of a job is invalid',
    remedy:
      'Correct `schedule`, `timeZone` or `excludeDates`: `kubectl -n NAMESPACE edit cronhpa NAME`; docs/reference/cron-hpa.md describes the supported formats.',
  },
  'cronhpa-job-never-due': {
    title: 'A job is never due',
    remedy:
      'Change the schedule of the job, or exclude fewer dates: `kubectl -n NAMESPACE edit cronhpa NAME`.',
  },
  'cronhpa-job-repeated': {
    title: 'Two jobs have the same name',
    remedy: 'Rename one of the jobs: `kubectl -n NAMESPACE edit cronhpa NAME`.',
  },
  'cronhpa-target-kind-unknown': {
    title: 'The API server does not serve the kind of a target',
    remedy:
      'Correct `apiVersion` and `kind` of the scaleTargetRef with `kubectl -n NAMESPACE edit cronhpa NAME`, or install the definition of KIND: `kubectl api-resources` lists the served kinds.',
  },
  'cronhpa-target-not-scalable': {
    title: 'The kind of a target cannot be scaled',
    remedy:
      'Use a target with the scale subresource, such as a Deployment or StatefulSet; if KIND is a custom resource, add subresources.scale to its definition.',
  },
  'cronhpa-target-missing': {
    title: 'A target does not exist',
    remedy:
      'Create the target, or correct the scaleTargetRef: `kubectl -n NAMESPACE edit cronhpa NAME`. The latest due activation is carried out as soon as the target exists.',
  },
  'cronhpa-target-forbidden': {
    title: 'The autoscaler has no permission to scale a target',
    remedy:
      'Grant the permission in the ClusterRole autoscaler-scale in `manifests/components/cron-hpa/rbac.yaml`, or with the value scaleResources of the chart: verbs get and update, apiGroup "GROUP", resource RESOURCE.',
  },
  'cronhpa-target-contended': {
    title: 'Two CronHorizontalPodAutoscalers have the same target',
    remedy:
      'Move all jobs into one of the two objects, and delete the other: `kubectl -n NAMESPACE delete cronhpa NAME`. Until then, neither of them scales the target.',
  },
  'cronhpa-hpa-owned': {
    title: 'A ScaledObject manages the HorizontalPodAutoscaler of a target',
    remedy:
      'Add a cron trigger to the ScaledObject and delete this object: `kubectl -n NAMESPACE delete cronhpa NAME`; or delete the ScaledObject.',
  },
  'cronhpa-hpa-missing': {
    title: 'The annotation requires a HorizontalPodAutoscaler that does not exist',
    remedy:
      'Create a HorizontalPodAutoscaler with the same target, or remove the annotation to set replicas: `kubectl -n NAMESPACE annotate cronhpa NAME platform.stke/adjust-hpa-min-`.',
  },
  'cronhpa-hpa-not-adjusted': {
    title: 'The annotation forbids setting minReplicas of the HorizontalPodAutoscaler of a target',
    remedy:
      'Remove the annotation, so that jobs set minReplicas: `kubectl -n NAMESPACE annotate cronhpa NAME platform.stke/adjust-hpa-min-`; or delete the HorizontalPodAutoscaler.',
  },
  'cronhpa-annotation-invalid': {
    title: 'An annotation of a CronHorizontalPodAutoscaler is invalid',
    remedy:
      'Correct the annotation, or remove it: `kubectl -n NAMESPACE annotate cronhpa NAME platform.stke/adjust-hpa-min-`; docs/reference/annotations.md lists the valid values. Until then, jobs run as without the annotation.',
  },
  'cronhpa-size-zero': {
    title: 'A HorizontalPodAutoscaler cannot have minReplicas 0',
    remedy:
      'Set targetSize of the job to 1 or more (`kubectl -n NAMESPACE edit cronhpa NAME`), or delete the HorizontalPodAutoscaler of the target.',
  },
  'cronhpa-unattended': {
    title: 'No controller runs the jobs of an object',
    remedy:
      'Check the findings about the leader above. Check that the leader runs with --controllers=cronhpa, and read its log lines about NAMESPACE/NAME.',
  },
  'cronhpa-job-failed': {
    title: 'The last activation of a job failed',
    remedy:
      'Fix the cause in the message: the activation is retried at least once a minute until the next one is due. `kubectl -n NAMESPACE describe cronhpa NAME` shows the events.',
  },
} as const satisfies Diagnoses;

export const failed = failedBy(CRON_HPA_DIAGNOSES);
