import type { Collection } from '#lib/collection/collection.ts';
import type { FairShare } from '#lib/concurrency/event-loop.ts';
import { type KubernetesObject, keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import { readKedaAnnotations } from '../api/annotations.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import { containerEnvironments } from '../triggers/authentication/container-environment.ts';
import { readerOfOne } from '../triggers/authentication/reference-reader.ts';
import type { SharedReader } from '../triggers/authentication/shared-reader.ts';
import type { TriggerTypes } from '../triggers/trigger-registry.ts';
import { planTriggers } from './prepare-triggers.ts';
import type { PreparedScaledObject, PreparedTarget, PreparedVersion } from './prepared-scaled-object.ts';
import { type PlannedObject, type PlannedTrigger, planError } from './prepared-triggers.ts';

/**
 * Objects of one kind as they were compiled: the spec once for each generation, annotations again whenever they change.
 *
 * What an object has here is removed by {@link delete}; it is replaced once the key has another object.
 */
export class PreparedObjects<Source extends KubernetesObject, Prepared extends PreparedVersion> {
  readonly #compile: (object: Source) => Prepared;
  readonly #entries = new Map<string, { readonly read: unknown; readonly prepared: Prepared }>();

  constructor(compile: (object: Source) => Prepared) {
    this.#compile = compile;
  }

  /** What an object means as it is now. */
  get(object: Source): Prepared {
    const { uid, generation, annotations } = object.metadata;
    const key = keyOf(object.metadata);
    const cached = this.#entries.get(key);
    const isSame = cached?.prepared.uid === uid && cached?.prepared.generation === generation;
    if (cached && isSame && cached.read === annotations) return cached.prepared;
    const prepared =
      cached && isSame
        ? { ...cached.prepared, annotations: readKedaAnnotations(object) }
        : this.#compile(object);
    this.#entries.set(key, { read: annotations, prepared });
    return prepared;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

/** What plans are made with. */
export interface KeptPlansOptions {
  readonly types: TriggerTypes;
  readonly share: FairShare;
  readonly reader: SharedReader;
  readonly collection: Collection;
  readonly clock: Clock;
  /** Reads the target as it is served, for the environment of its containers. */
  readonly readTarget: (target: PreparedTarget['ref'], signal: AbortSignal) => Promise<unknown>;
  /** What authentications of an object were read from, to tell whether they have changed. */
  readonly authenticationsOf: (object: ScaledObject) => readonly unknown[];
  readonly prepare: (object: ScaledObject) => PreparedScaledObject;
}

interface Kept {
  readonly plan: PlannedObject;
  readonly authentications: readonly unknown[];
}

/** Credentials may change without telling. */
export const REREAD_MS = 300_000;
/** After a failure they are read again, but not more often than this. */
const REREAD_FAILED_MS = 15_000;

/** What is to be asked for each object, planned again when it, its authentications or its credentials change. */
export class KeptPlans {
  readonly #options: KeptPlansOptions;
  readonly #plans = new Map<string, Kept>();

  constructor(options: KeptPlansOptions) {
    this.#options = options;
  }

  /** The plan that was made last, be it of an earlier generation. */
  find(key: string): PlannedObject | undefined {
    return this.#plans.get(key)?.plan;
  }

  /** @returns whether there was a plan */
  delete(key: string): boolean {
    return this.#plans.delete(key);
  }

  /** Whether the plan need not be made again now; not where there is none. */
  isCurrent(key: string, object: ScaledObject): boolean {
    const kept = this.#plans.get(key);
    const now = this.#options.authenticationsOf(object);
    if (!kept || !isOf(kept, object, now) || planError(kept.plan)) return false;
    const ageMs = this.#options.clock.monotonicMs() - kept.plan.plannedAtMs;
    return now.length === 0 || ageMs < REREAD_FAILED_MS || (ageMs < REREAD_MS && !this.isFailing(key));
  }

  /** Whether a source of an object fails. */
  isFailing(key: string): boolean {
    const { collection } = this.#options;
    const metrics = this.find(key)?.triggers.flatMap((trigger) => trigger.metrics) ?? [];
    return metrics.some(({ metricName }) => collection.failure(key, metricName));
  }

  /** The plan of an object as it is now, made again where it has to be. */
  async current(key: string, object: ScaledObject, signal: AbortSignal): Promise<PlannedObject> {
    const known = this.#plans.get(key);
    if (known && this.isCurrent(key, object)) return known.plan;
    const authentications = this.#options.authenticationsOf(object);
    const plannedAtMs = this.#options.clock.monotonicMs();
    const { uid, generation } = object.metadata;
    const isSame = known && isOf(known, object, authentications);
    const planned = await this.#plan(object, { isChanged: known !== undefined && !isSame, signal });
    const triggers = isSame ? keepGood(known.plan.triggers, planned) : planned;
    const plan = { uid, generation, triggers, plannedAtMs };
    this.#plans.set(key, { plan, authentications });
    return plan;
  }

  /** @param isChanged whether what it refers to is read though it may be cached */
  async #plan(
    object: ScaledObject,
    { isChanged, signal }: { readonly isChanged: boolean; readonly signal: AbortSignal },
  ): Promise<readonly PlannedTrigger[]> {
    const { types, share, readTarget } = this.#options;
    const { namespace, name, target, hasFormula } = this.#options.prepare(object);
    const reader = readerOfOne(isChanged ? this.#options.reader.fresh : this.#options.reader);
    const { spec } = object;
    const environment = containerEnvironments({
      readWorkload: () => readTarget(target.ref, signal),
      container: spec.scaleTargetRef.envSourceContainerName,
      reader: reader.environmentOf(namespace, signal),
    });
    return await planTriggers(spec.triggers, {
      ...{ objectKind: 'ScaledObject', objectName: name, namespace, hasFormula },
      ...{ types, reader, share, environment, signal },
    });
  }
}

/** Whether a plan was made of an object as it is now, and of authentications as they are now. */
function isOf({ plan, authentications }: Kept, { metadata }: ScaledObject, now: readonly unknown[]): boolean {
  if (plan.uid !== metadata.uid || plan.generation !== metadata.generation) return false;
  return authentications.length === now.length && authentications.every((one, index) => one === now[index]);
}

/** What could be planned once and cannot just now stays as it was: its source is away, and failures go on to count. */
export function keepGood(
  before: readonly PlannedTrigger[],
  now: readonly PlannedTrigger[],
): readonly PlannedTrigger[] {
  return now.map((trigger, index) => {
    const known = before[index];
    return trigger.error && known && !known.error ? known : trigger;
  });
}
