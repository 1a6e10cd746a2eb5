import { ScaleClient, UnscalableTarget } from '#lib/control/scale-client.ts';
import { type Check, examineEach, type Finding, ok, unchecked } from '#lib/doctor/check.ts';
import { type ApiContext, requirePermission } from '#lib/doctor/cluster-context.ts';
import { isAllowed } from '#lib/doctor/permissions.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { CronHpa } from '../cron-hpa.ts';
import { type ExaminedCronHpas, failed, subjectOf } from './examination.ts';

/** Whether what objects scale is there, can be scaled, and may be. */
export function targets(examined: ExaminedCronHpas): Check {
  return {
    name: 'cronhpa-targets',
    title: 'Targets of CronHorizontalPodAutoscalers',

    async run(context) {
      const objects = await examined.readable(context);
      const hpaOf = await examined.hpaFinder(context);
      const { client: api, mapper, clock } = context;
      const look = {
        context,
        scales: new ScaleClient({ api, mapper, clock }),
        reviewed: new Reviews(context),
      };
      return await examineEach(objects, async ({ object }) => {
        const hpa = hpaOf(object);
        // What an HPA scales is what has to be there; the HPA itself was listed.
        const { apiVersion = '', ...rest } = hpa?.scaleTargetRef ?? object.spec.scaleTargetRef;
        return await lookAt(object, { apiVersion, ...rest }, look);
      });
    },
  };
}

interface Look {
  readonly context: ApiContext;
  readonly scales: ScaleClient;
  readonly reviewed: Reviews;
}

async function lookAt(
  object: CronHpa,
  reference: CronHpa['spec']['scaleTargetRef'],
  { context, scales, reviewed }: Look,
): Promise<Finding> {
  const { namespace, name } = object;
  const subject = subjectOf(object);
  const names = { NAMESPACE: namespace, NAME: name, KIND: reference.kind };
  const target = { namespace, ...reference };
  const described = `${reference.kind} ${JSON.stringify(reference.name)}`;
  try {
    const resource = await scales.resourceOf(target, context.signal);
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
    const scale = await requirePermission(permission, () => scales.get(target, context.signal));
    return ok(subject, `scales ${described}, of which there are to be ${scale.specReplicas}`);
  } catch (error) {
    if (error instanceof UnscalableTarget) {
      const diagnosis =
        error.reason === 'UnknownKind' ? 'cronhpa-target-kind-unknown' : 'cronhpa-target-not-scalable';
      return failed(subject, error.message, { diagnosis, ...names });
    }
    if (isNotFound(error)) {
      return failed(subject, `there is no ${described}`, { diagnosis: 'cronhpa-target-missing', ...names });
    }
    return unchecked(subject, error);
  }
}

/** What the server may do to the scale of resources; each is asked for once, in a namespace only where it is not granted in all. */
class Reviews {
  readonly #context: ApiContext;
  readonly #asked = new Map<string, Promise<boolean>>();

  constructor(context: ApiContext) {
    this.#context = context;
  }

  /** @returns the verb that is not granted */
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
    const asked = this.#asked.get(key) ?? isAllowed(this.#context, permission);
    this.#asked.set(key, asked);
    return await asked;
  }
}
