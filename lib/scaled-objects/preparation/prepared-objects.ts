import type { Collection } from '#lib/collection/collection.ts';
import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import {
  MAX_NAMESPACE_METRICS,
  METRICS_BUDGET,
  NamespaceBudget,
} from '#lib/kubernetes/informer/namespace-budget.ts';
import { type KubernetesObject, keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import { readKedaAnnotations } from '../api/annotations.ts';
import type { TriggerSpec } from '../api/scaled-object.ts';
import { containerEnvironments } from '../triggers/authentication/container-environment.ts';
import { boundedReader } from '../triggers/authentication/reference-reader.ts';
import type { SharedReader } from '../triggers/authentication/shared-reader.ts';
import type { TriggerRequest } from '../triggers/trigger.ts';
import type { TriggerTypes } from '../triggers/trigger-registry.ts';
import { prepareTriggers } from './prepare-triggers.ts';
import type { PreparedObject } from './prepared-scaled-object.ts';
import { type PreparedTrigger, type PreparedTriggers, preparationError } from './prepared-triggers.ts';

export interface PreparedObjectsOptions<Source, Prepared> {
  readonly kind: TriggerRequest['objectKind'];
  readonly compile: (object: Source) => Prepared;
  readonly types: TriggerTypes;
  readonly share: EventLoopShare;
  readonly reader: SharedReader;
  /** Polls the triggers; a failure shortens the time to the next read of credentials. */
  readonly collection: Pick<Collection, 'failure'>;
  readonly clock: Clock;
  /** Reads the object with the pod template whose environment triggers read. */
  readonly readWorkload: (
    of: { readonly object: Source; readonly prepared: Prepared },
    signal: AbortSignal,
  ) => Promise<unknown>;
  /** Versions of the authentications of an object, compared by identity. */
  readonly authenticationsOf: (object: Source) => readonly unknown[];
}

type TriggerOwner = KubernetesObject & { readonly spec: { readonly triggers: readonly TriggerSpec[] } };

interface CachedTriggers {
  readonly prepared: PreparedTriggers;
  readonly authentications: readonly unknown[];
}

/** Interval for reading credentials again: Secrets and ConfigMaps are not watched. */
export const REREAD_MS = 300_000;
/** The same while a source fails. */
const REREAD_FAILED_MS = 15_000;

/**
 * Caches prepared objects of one kind: the compiled spec for each generation, annotations for each change, and triggers for
 * each generation and change of authentications or credentials.
 */
export class PreparedObjects<Source extends TriggerOwner, Prepared extends PreparedObject> {
  readonly #options: PreparedObjectsOptions<Source, Prepared>;
  readonly #compiled = new Map<string, { readonly annotations: unknown; readonly prepared: Prepared }>();
  readonly #triggers = new Map<string, CachedTriggers>();
  readonly #budget = new NamespaceBudget(METRICS_BUDGET);

  constructor(options: PreparedObjectsOptions<Source, Prepared>) {
    this.#options = options;
  }

  /** The compiled object, from the cache if its generation and annotations are the same. */
  get(object: Source): Prepared {
    const { uid, generation, annotations } = object.metadata;
    const key = keyOf(object.metadata);
    const cached = this.#compiled.get(key);
    const isSame = cached?.prepared.uid === uid && cached?.prepared.generation === generation;
    if (cached && isSame && cached.annotations === annotations) return cached.prepared;
    const prepared =
      cached && isSame
        ? { ...cached.prepared, annotations: readKedaAnnotations(object) }
        : this.#options.compile(object);
    this.#compiled.set(key, { annotations, prepared });
    return prepared;
  }

  /** The triggers that were prepared last, possibly for an earlier generation. */
  findTriggers(key: string): PreparedTriggers | undefined {
    return this.#triggers.get(key)?.prepared;
  }

  /** @returns whether triggers were cached */
  delete(key: string): boolean {
    this.#compiled.delete(key);
    this.#budget.delete(key);
    return this.#triggers.delete(key);
  }

  /** Whether the cached triggers are up to date; `false` if there are none. */
  isCurrent(object: Source): boolean {
    const key = keyOf(object.metadata);
    const cached = this.#triggers.get(key);
    const now = this.#options.authenticationsOf(object);
    if (!cached || !isOf(cached, object, now) || preparationError(cached.prepared)) return false;
    const ageMs = this.#options.clock.monotonicMs() - cached.prepared.preparedAtMs;
    return now.length === 0 || ageMs < REREAD_FAILED_MS || (ageMs < REREAD_MS && !this.isFailing(key));
  }

  /** Whether a source of an object fails. */
  isFailing(key: string): boolean {
    const { collection } = this.#options;
    const metrics = this.findTriggers(key)?.triggers.flatMap((trigger) => trigger.metrics) ?? [];
    return metrics.some(({ metricName }) => collection.failure(key, metricName));
  }

  /**
   * The triggers of an object, prepared again unless they are up to date. One that cannot be polled has an error.
   *
   * @throws the signal's reason
   */
  async prepareTriggers(object: Source, signal: AbortSignal): Promise<PreparedTriggers> {
    const key = keyOf(object.metadata);
    const cached = this.#triggers.get(key);
    if (cached && this.isCurrent(object)) return cached.prepared;
    const authentications = this.#options.authenticationsOf(object);
    const preparedAtMs = this.#options.clock.monotonicMs();
    const { uid, generation } = object.metadata;
    const isSame = cached && isOf(cached, object, authentications);
    const now = await this.#prepare(object, { isChanged: cached !== undefined && !isSame, signal });
    const usable = isSame ? retainUsable(cached.prepared.triggers, now) : now;
    // A trigger without metrics counts as one.
    const count = usable.reduce((sum, { metrics }) => sum + (metrics.length || 1), 0);
    const triggers = this.#budget.fit(key, count) === count ? usable : usable.slice(0, 1).map(withoutMetrics);
    const prepared = { uid, generation, triggers, preparedAtMs };
    this.#triggers.set(key, { prepared, authentications });
    return prepared;
  }

  /** @param isChanged reads references from the API server instead of a cache */
  async #prepare(
    object: Source,
    { isChanged, signal }: { readonly isChanged: boolean; readonly signal: AbortSignal },
  ): Promise<readonly PreparedTrigger[]> {
    const { kind, types, share, readWorkload } = this.#options;
    const reader = boundedReader(isChanged ? this.#options.reader.fresh : this.#options.reader);
    const prepared = this.get(object);
    const { namespace, name, hasFormula, envSourceContainer } = prepared;
    const environment = containerEnvironments({
      readWorkload: () => readWorkload({ object, prepared }, signal),
      container: envSourceContainer,
      ...{ reader, namespace, signal },
    });
    return await prepareTriggers(object.spec.triggers, {
      ...{ objectKind: kind, objectName: name, namespace, hasFormula },
      ...{ types, reader, share, environment, signal },
    });
  }
}

/** Stands in for all triggers of an object beyond the budget of its namespace. */
function withoutMetrics(trigger: PreparedTrigger): PreparedTrigger {
  const error = new Error(
    `the triggers of all objects of this kind in the namespace together have more than ${MAX_NAMESPACE_METRICS} metrics`,
  );
  return { ...trigger, metrics: [], resource: undefined, push: undefined, error };
}

/** Whether triggers were prepared for this generation and these authentications. */
function isOf(
  { prepared, authentications }: CachedTriggers,
  { metadata }: KubernetesObject,
  now: readonly unknown[],
): boolean {
  if (prepared.uid !== metadata.uid || prepared.generation !== metadata.generation) return false;
  return authentications.length === now.length && authentications.every((one, index) => one === now[index]);
}

/** Retains a usable trigger that cannot be prepared again, so that failures of its source are counted. */
function retainUsable(
  before: readonly PreparedTrigger[],
  now: readonly PreparedTrigger[],
): readonly PreparedTrigger[] {
  return now.map((trigger, index) => {
    const previous = before[index];
    return trigger.error && previous && !previous.error ? previous : trigger;
  });
}
