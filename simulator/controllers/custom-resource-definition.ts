import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { deleteObject, updateOrRemove } from '../objects/deletion.ts';
import { fieldAt, formatTimestamp, type KubernetesObject } from '../objects/kubernetes-object.ts';
import type { ObjectStore, StoreEvent } from '../objects/object-store.ts';
import { customResourceTypes } from '../resources/custom-resource-type.ts';
import type { ResourceRegistry } from '../resources/resource-type.ts';

/** The storage of CustomResourceDefinitions. */
const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

interface CustomResourcesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: ObjectStore;
  readonly registry: ResourceRegistry;
}

/**
 * Serves custom resources from the moment in which their definitions are stored, and sets the definitions' conditions.
 * A definition that is deleted waits until all its objects are removed.
 */
export class CustomResources {
  readonly #options: CustomResourcesOptions;
  readonly #subscription: Disposable;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
    this.#subscription = options.store.subscribe((event) => this.#observe(event));
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #observe({ resource, type, object }: StoreEvent): void {
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
    // In a microtask: other watchers must receive the definition before its conditions.
    if (type !== 'DELETED') queueMicrotask(() => this.#reconcile(name));
  }

  /** Removes a definition that is being deleted when its last object is removed. */
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
    updateOrRemove(
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
