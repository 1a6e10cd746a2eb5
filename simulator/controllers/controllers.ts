import type { Logger } from '#lib/telemetry/logger.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { StoreEvent } from '../objects/object-store.ts';
import { type ControllerContext, Dependents, type ObjectKey, ownersOf } from './controller-context.ts';
import { syncDeployment } from './deployment.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { syncJob } from './job.ts';
import { syncReplicaSet } from './replica-set.ts';
import { syncStatefulSet } from './stateful-set.ts';

type ControllersOptions = Pick<ControllerContext, 'store' | 'clock' | 'registry'> & {
  readonly logger: Logger;
};

/** Reconciles one object; does nothing when its state is the desired one. */
type Sync = (object: KubernetesObject, context: ControllerContext) => void;

const SYNCS: Readonly<Record<string, Sync>> = {
  'deployments.apps': syncDeployment,
  'replicasets.apps': syncReplicaSet,
  'statefulsets.apps': syncStatefulSet,
  'jobs.batch': syncJob,
};

/**
 * Does the part of kube-controller-manager that scaled workloads need. Changes are reconciled in microtasks, so that no
 * time passes, and watchers receive the change before its consequences.
 */
export class Controllers {
  readonly #context: ControllerContext;
  readonly #logger: Logger;
  readonly #garbageCollector: GarbageCollector;
  readonly #subscription: Disposable;
  readonly #queue = new Map<string, ObjectKey>();
  #isWorking = false;

  constructor({ logger, ...options }: ControllersOptions) {
    this.#logger = logger;
    const dependents = new Dependents(options.store);
    this.#context = { ...options, dependents };
    this.#garbageCollector = new GarbageCollector(this.#context);
    this.#subscription = options.store.subscribe((event) => this.#observe(event));
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #observe(event: StoreEvent): void {
    const { resource, object, type } = event;
    const { namespace, name, ownerReferences } = object.metadata;
    // Most objects that a large cluster starts with have no owner; skipping them early saves seconds.
    if (type === 'ADDED' && ownerReferences === undefined && !(resource in SYNCS)) return;
    this.#context.dependents.observe(event);
    this.#garbageCollector.observe(event);
    if (resource in SYNCS && type !== 'DELETED') this.#add({ storage: resource, namespace, name });
    for (const owner of ownersOf(object)) if (owner.controller) this.#addOwner(owner, namespace);
  }

  #addOwner(
    { apiVersion, kind, name }: { apiVersion: string; kind: string; name: string },
    namespace: string | undefined,
  ): void {
    const storage = this.#context.registry.ofApiVersion(apiVersion, kind)?.storage ?? '';
    if (storage in SYNCS) this.#add({ storage, namespace, name });
  }

  #add(key: ObjectKey): void {
    this.#queue.set(`${key.storage}/${key.namespace ?? ''}/${key.name}`, key);
    if (this.#isWorking) return;
    this.#isWorking = true;
    queueMicrotask(() => this.#work());
  }

  #work(): void {
    for (const [key, { storage, namespace, name }] of this.#queue) {
      this.#queue.delete(key);
      const object = this.#context.store.get(storage, namespace, name);
      if (object) this.#sync(object, storage);
    }
    this.#isWorking = false;
  }

  /** An error in one object does not stop the reconciliation of others. */
  #sync(object: KubernetesObject, storage: string): void {
    try {
      SYNCS[storage]?.(object, this.#context);
    } catch (error) {
      this.#logger.error('Cannot reconcile', error, { storage, name: object.metadata.name });
    }
  }
}
