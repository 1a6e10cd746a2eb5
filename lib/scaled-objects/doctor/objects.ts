import { ScaleClient } from '#lib/control/scale-client.ts';
import { type Check, examineEach, type Finding, findingsOr, ok, unchecked } from '#lib/doctor/check.ts';
import { type ClusterContext, requirePermission } from '#lib/doctor/cluster-context.ts';
import { type ApiResource, collectionPath, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { readPlainHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { readWorkload, type Workload } from '#lib/kubernetes/objects/workload.ts';
import { readKedaAnnotations } from '../api/annotations.ts';
import { findOverlappingHpas, type ManagedHpa, targetNamesOf } from '../api/informers.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import { JobClient } from '../jobs/job-client.ts';
import { checkScaledJob, JobCheckFailure, jobRefusal } from '../jobs/prepare-scaled-job.ts';
import { compileScaledObject, type PreparedScaledObject } from '../preparation/prepared-scaled-object.ts';

import { targetFailure } from '../scaling/scale-target.ts';
import { CheckFailure, STEPS } from '../validation/check-failure.ts';
import { limitedByDefault } from '../validation/limit-ranges.ts';
import { checkScaledObject, parsePausedReplicas } from '../validation/validate-scaled-object.ts';
import type { ExaminedObjects } from './definitions.ts';
import { failed } from './diagnoses.ts';

const HPAS: ApiResource = {
  ...{ group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' },
  ...{ plural: 'horizontalpodautoscalers', namespaced: true },
};

/** Runs the controller's checks of objects, without their triggers, and writes nothing. */
export function objects(examined: ExaminedObjects, namespace: string | undefined): Check {
  return {
    name: 'scaledobjects-objects',
    title: 'ScaledObjects and ScaledJobs',

    async run(context) {
      const found = await examined.all(context);
      const all = [...found.objects, ...found.jobs];
      if (all.length === 0) return findingsOr('objects', [], all);
      const path = collectionPath(HPAS, namespace);
      const hpas = await context.list(
        'horizontalpodautoscalers.autoscaling',
        { path },
        readPlainHpa<ManagedHpa>,
      );
      const prepared = new Map(found.objects.map((object) => [object, compileScaledObject(object)]));
      const checker = new ObjectChecker({ context, objects: [...prepared.values()], hpas });
      const checks = [
        ...[...prepared].map((one) => () => checker.scaledObject(...one)),
        ...found.jobs.map((object) => () => checker.scaledJob(object)),
      ];
      const problems = await examineEach(checks, (check) => check());
      return problems.length > 0
        ? problems
        : [
            ok(
              'objects',
              `targets and settings of ${all.length} ${all.length === 1 ? 'object' : 'objects'} are valid`,
            ),
          ];
    },
  };
}

interface ObjectCheckerOptions {
  readonly context: ClusterContext;
  readonly objects: readonly PreparedScaledObject[];
  readonly hpas: readonly ManagedHpa[];
}

/** Checks objects against the other objects and HPAs of the cluster. */
class ObjectChecker {
  readonly #context: ClusterContext;
  /** By the key of the target, and by the key of the HPA. */
  readonly #overlapping: ReadonlyMap<string, readonly PreparedScaledObject[]>;
  readonly #hpas: Parameters<typeof findOverlappingHpas>[0];
  readonly #scales: ScaleClient;
  readonly #jobs: JobClient;
  readonly #limits = new Map<string, Promise<readonly string[]>>();

  constructor({ context, objects: all, hpas }: ObjectCheckerOptions) {
    const { client, mapper, clock } = context;
    this.#context = context;
    this.#overlapping = new Map([
      ...Map.groupBy(all, ({ target }) => target.key),
      ...Map.groupBy(all, ({ hpaKey }) => hpaKey),
    ]);
    const byKey = new Map(hpas.map((hpa) => [keyOf(hpa.metadata), hpa]));
    const byTarget = Map.groupBy(hpas, (hpa) => targetNamesOf(hpa)[0]);
    this.#hpas = {
      find: (key) => byKey.get(key),
      findBy: (_, target) => byTarget.get(target) ?? [],
    };
    this.#scales = new ScaleClient({ api: client, mapper, clock });
    this.#jobs = new JobClient({ api: client, reader: client, version: '' });
  }

  /** Skips deleted objects; of a paused one checks only its annotation. */
  async scaledObject(object: ScaledObject, prepared: PreparedScaledObject): Promise<readonly Finding[]> {
    if (object.metadata.deletionTimestamp) return [];
    const { namespace, target, hpaKey, annotations } = prepared;
    return await this.#findingsOf('scaledobject', object, async () => {
      if (object.omitted !== undefined) throw new CheckFailure(STEPS.size, object.omitted);
      if (annotations.isPaused) return void parsePausedReplicas(annotations);
      const workload = await this.#workload(prepared);
      const needsDefaults = object.spec.triggers.some(({ type }) => type === 'cpu' || type === 'memory');
      checkScaledObject(object, {
        prepared,
        objects: [target.key, hpaKey].flatMap((name) => this.#overlapping.get(name) ?? []),
        hpas: findOverlappingHpas(this.#hpas, prepared),
        workload,
        limitedByDefault: needsDefaults ? await this.#limitedByDefault(namespace) : [],
      });
    });
  }

  async scaledJob(object: ScaledJob): Promise<readonly Finding[]> {
    if (object.metadata.deletionTimestamp || readKedaAnnotations(object).isPaused) return [];
    const { signal } = this.#context;
    return await this.#findingsOf('scaledjob', object, async () => {
      checkScaledJob(object);
      const tried = requirePermission('create jobs.batch', () =>
        this.#jobs.create(object, { signal, dryRun: true }),
      );
      await tried.catch((error: unknown) => {
        throw jobRefusal(error);
      });
    });
  }

  async #findingsOf(
    kind: 'scaledobject' | 'scaledjob',
    { metadata }: ScaledObject | ScaledJob,
    check: () => Promise<void>,
  ): Promise<readonly Finding[]> {
    const { namespace = '', name } = metadata;
    const subject = `${kind} ${keyOf(metadata)}`;
    const names = { KIND: kind, NAMESPACE: namespace, NAME: name };
    try {
      await check();
      return [];
    } catch (error) {
      this.#context.signal.throwIfAborted();
      if (error instanceof CheckFailure)
        return [failed(subject, error.message, { diagnosis: 'scaledobjects-object-unusable', ...names })];
      if (error instanceof JobCheckFailure)
        return [failed(subject, error.full, { diagnosis: 'scaledobjects-object-unusable', ...names })];
      return [unchecked(subject, error)];
    }
  }

  /** @returns `undefined` for a target of another kind, once it is verified that it has a scale subresource */
  async #workload({ target }: PreparedScaledObject): Promise<Workload | undefined> {
    const { mapper, client, signal } = this.#context;
    try {
      const resource = target.isWorkload ? await mapper.find(target.ref, signal) : undefined;
      if (resource) {
        const permission = `get ${resource.plural}.${resource.group}`;
        const path = objectPath(resource, target.ref);
        return readWorkload(await requirePermission(permission, () => client.getJson(path, { signal })));
      }
      await requirePermission(`get the scale of ${target.key}`, () => this.#scales.get(target.ref, signal));
      return undefined;
    } catch (error) {
      const failure = targetFailure(error);
      throw failure instanceof CheckFailure ? failure : error;
    }
  }

  #limitedByDefault(namespace: string): Promise<readonly string[]> {
    const { client, signal } = this.#context;
    const cached = this.#limits.get(namespace);
    if (cached) return cached;
    const limits = requirePermission('list limitranges', () => limitedByDefault(client)(namespace, signal));
    this.#limits.set(namespace, limits);
    return limits;
  }
}
