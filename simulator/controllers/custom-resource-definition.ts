import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { deleteObject, updateOrFinish } from '../objects/deletion.ts';
import { fieldAt, formatTimestamp, type KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ObjectStore, StoreEvent } from '../objects/object-store.ts';
import { customResourceTypes } from '../resources/custom-resource-type.ts';
import type { ResourceRegistry } from '../resources/resource-type.ts';

/** Where the store keeps CustomResourceDefinitions. */
const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

/** What the definitions are followed in and served by. */
interface CustomResourcesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: ObjectStore;
  readonly registry: ResourceRegistry;
}

/**
 * Has custom resources served as their definitions say, from the moment these are stored, and tells so in their
 * conditions. A definition that goes takes all its objects with it first.
 */
export class CustomResources {
  readonly #options: CustomResourcesOptions;
  readonly #subscription: Disposable;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
    this.#subscription = options.store.subscribe((event) => this.#follow(event));
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #follow({ resource, type, object }: StoreEvent): void {
    if (resource !== DEFINITIONS) {
      if (type === 'DELETED') this.#finishSoon(resource);
      return;
    }
    const { registry, logger } = this.#options;
    const { name } = object.metadata;
    try {
      registry.setCustom(name, type === 'DELETED' ? [] : customResourceTypes(object));
    } catch (error) {
      logger.error('Cannot serve a custom resource', error, { name });
      return;
    }
    // Not within the change itself, or other watchers would see the conditions before the definition.
    if (type !== 'DELETED') queueMicrotask(() => this.#reconcile(name));
  }

  /** When the last object of a definition that goes is gone, so is the definition. */
  #finishSoon(storage: string): void {
    const definition = this.#options.store.get(DEFINITIONS, undefined, storage);
    if (definition?.metadata.deletionTimestamp === undefined) return;
    queueMicrotask(() => this.#reconcile(storage));
  }

  #reconcile(name: string): void {
    const { store } = this.#options;
    const definition = store.get(DEFINITIONS, undefined, name);
    if (!definition) return;
    if (definition.metadata.deletionTimestamp === undefined) this.#establish(definition);
    else this.#empty(definition);
  }

  #empty(definition: KubernetesObject): void {
    const { store, clock } = this.#options;
    const { name } = definition.metadata;
    const remaining = store.list(name).items;
    if (remaining.length > 0) {
      for (const object of remaining)
        if (object.metadata.deletionTimestamp === undefined)
          deleteObject(object, { store, clock, storage: name });
      return;
    }
    const finalizers = (definition.metadata.finalizers ?? []).filter((one) => one !== CLEANUP);
    if (finalizers.length === definition.metadata.finalizers?.length) return;
    updateOrFinish(
      { ...definition, metadata: { ...definition.metadata, finalizers } },
      { store, storage: DEFINITIONS },
    );
  }

  #establish(definition: KubernetesObject): void {
    const { store, clock } = this.#options;
    const now = formatTimestamp(clock.nowMs());
    const old = fieldAt(definition, 'status', 'conditions');
    const condition = (type: string, reason: string, message: string) => {
      const same = Array.isArray(old)
        ? old.find((one) => one?.type === type && one?.status === 'True')
        : undefined;
      return { type, status: 'True', lastTransitionTime: same?.lastTransitionTime ?? now, reason, message };
    };
    const versions = fieldAt(definition, 'spec', 'versions');
    const stored = (Array.isArray(versions) ? versions : [])
      .filter((one) => one.storage)
      .map((one) => String(one.name));
    const before = fieldAt(definition, 'status', 'storedVersions');
    const status = {
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ],
      acceptedNames: fieldAt(definition, 'spec', 'names'),
      storedVersions: [...new Set([...(Array.isArray(before) ? before : []), ...stored])],
    };
    const finalizers = [...new Set([...(definition.metadata.finalizers ?? []), CLEANUP])];
    const isDone =
      isDeepStrictEqual(status, definition.status) &&
      isDeepStrictEqual(finalizers, definition.metadata.finalizers);
    if (!isDone)
      store.update(DEFINITIONS, { ...definition, metadata: { ...definition.metadata, finalizers }, status });
  }
}
