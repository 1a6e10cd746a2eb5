import { ScaleClient } from '#lib/control/scale-client.ts';
import { checkTargetExists, checkTargetKind, type TargetProblem } from '#lib/control/target-check.ts';
import { type Check, examineEach, type Finding, findingsOr, ok, unchecked } from '#lib/doctor/check.ts';
import { type ClusterContext, requirePermission } from '#lib/doctor/cluster-context.ts';
import { isAllowed } from '#lib/doctor/permissions.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { CronHpa } from '../cron-hpa.ts';
import { type ExaminedCronHpas, failed, OBJECTS, subjectOf } from './examination.ts';

/** Checks that targets exist and can be scaled, with the permissions of the autoscaler. */
export function targets(examined: ExaminedCronHpas): Check {
  return {
    name: 'cronhpa-targets',
    title: 'Targets of CronHorizontalPodAutoscalers',

    async run(context) {
      const objects = await examined.readable(context);
      const hpaOf = await examined.hpaFinder(context);
      const { client: api, mapper, clock } = context;
      const tools = {
        context,
        scales: new ScaleClient({ api, mapper, clock }),
        reviewed: new Reviews(context),
      };
      const found = await examineEach(objects, async ({ object }) => {
        const hpa = hpaOf(object);
        // The HPA was listed; its target has to exist.
        const { apiVersion = '', ...rest } = hpa?.scaleTargetRef ?? object.spec.scaleTargetRef;
        return await checkTarget(object, { apiVersion, ...rest }, tools);
      });
      return findingsOr(OBJECTS, found, await examined.all(context));
    },
  };
}

interface Tools {
  readonly context: ClusterContext;
  readonly scales: ScaleClient;
  readonly reviewed: Reviews;
}

async function checkTarget(
  object: CronHpa,
  reference: CronHpa['spec']['scaleTargetRef'],
  { context, scales, reviewed }: Tools,
): Promise<Finding> {
  const { namespace, name } = object;
  const subject = subjectOf(object);
  const names = { NAMESPACE: namespace, NAME: name, KIND: reference.kind };
  const target = { namespace, ...reference };
  const described = `${reference.kind} ${JSON.stringify(reference.name)}`;
  const { signal } = context;
  const missing = ({ reason, problem }: TargetProblem) =>
    failed(subject, problem, { diagnosis: DIAGNOSES[reason], ...names });
  try {
    const found = await checkTargetKind(target, scales, signal);
    if (found.problem !== undefined) return missing(found);
    const { resource } = found;
    const forbidden = await reviewed.forbidden(resource, namespace);
    if (forbidden) {
      const { group: GROUP, plural: RESOURCE } = resource;
      return failed(subject, `${described}: ${forbidden} of ${RESOURCE}/scale is not granted`, {
        diagnosis: 'cronhpa-target-forbidden',
        ...names,
        GROUP,
        RESOURCE,
      });
    }
    const permission = `get ${resource.plural}/scale`;
    const checked = await requirePermission(permission, () =>
      checkTargetExists(target, { resource, scales, signal }),
    );
    if (checked.problem !== undefined) return missing(checked);
    return ok(subject, `scales ${described}, spec.replicas ${checked.scale.specReplicas}`);
  } catch (error) {
    return unchecked(subject, error);
  }
}

const DIAGNOSES = {
  UnknownKind: 'cronhpa-target-kind-unknown',
  NoScaleSubresource: 'cronhpa-target-not-scalable',
  NotFound: 'cronhpa-target-missing',
} as const satisfies Record<TargetProblem['reason'], string>;

/** Access reviews of scale subresources, each requested once: first for the cluster, then for a namespace. */
class Reviews {
  readonly #context: ClusterContext;
  readonly #reviews = new Map<string, Promise<boolean>>();

  constructor(context: ClusterContext) {
    this.#context = context;
  }

  /** @returns a verb that is not granted, `undefined` when all are */
  async forbidden(resource: ApiResource, namespace: string): Promise<'get' | 'update' | undefined> {
    for (const verb of ['get', 'update'] as const) {
      const isGranted =
        (await this.#isAllowed(resource, verb)) || (await this.#isAllowed(resource, verb, namespace));
      if (!isGranted) return verb;
    }
    return undefined;
  }

  async #isAllowed({ group, plural }: ApiResource, verb: string, namespace?: string): Promise<boolean> {
    const permission = { verb, group, resource: `${plural}/scale`, ...(namespace && { namespace }) };
    const key = JSON.stringify(permission);
    const review = this.#reviews.get(key) ?? isAllowed(this.#context, permission);
    this.#reviews.set(key, review);
    return await review;
  }
}
