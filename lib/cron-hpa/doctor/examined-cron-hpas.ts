import type { ApiContext } from '#lib/doctor/cluster-context.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { CRON_HPA, CRON_HPAS, type CronHpa, HPAS, readCronHpa } from '../cron-hpa.ts';
import { targetsOfCronHpa, targetsOfHpa } from '../cron-hpa-controller.ts';
import { type Hpa, hpaOf, readHpa } from '../target-conflicts.ts';

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
    const collection = { path: collectionPath(HPAS, this.#namespace) };
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
