import type { Collection } from '#lib/collection/collection.ts';
import type { Watched } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import { MutationCache } from '#lib/control/mutation-cache.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ManagedHpa } from '../api/informers.ts';
import type { ObjectEvents } from '../api/object-events.ts';
import type { ScaledObject, ScaledObjectStatus } from '../api/scaled-object.ts';
import type { StatusWrites } from '../api/status-writes.ts';
import type { Workloads } from '../api/target-workloads.ts';
import type { KedaDetector } from '../coexistence/keda-detector.ts';
import { HealthCounter } from '../metrics/fallback.ts';
import type { ScaledObjectCollectors } from '../metrics/scaled-object-collectors.ts';
import type { PreparedScaledObject } from '../preparation/prepared-scaled-object.ts';
import type { NextStep } from './decide-activation.ts';
import type { HpaClient, WrittenHpa } from './hpa-client.ts';
import { ReplicaHistory } from './replica-history.ts';

export interface ScaledObjectDependencies {
  readonly objects: Watched & {
    find(key: string): ScaledObject | undefined;
    /** ScaledObjects with the same target or the same HPA name, including the object itself. */
    overlapping(prepared: PreparedScaledObject): Iterable<PreparedScaledObject>;
  };
  readonly hpas: {
    find(key: string): ManagedHpa | undefined;
    /** HPAs with the same target or the name of the object's HPA. */
    overlapping(prepared: PreparedScaledObject): Iterable<ManagedHpa>;
  };
  /** Changes of HPAs and targets, with the keys of the ScaledObjects that they concern. */
  readonly related: readonly Watched[];
  readonly workloads: Workloads;
  readonly plans: ScaledObjectCollectors;
  readonly collection: Collection;
  readonly client: ResourceClient<ScaledObject>;
  readonly statuses: StatusWrites<ScaledObjectStatus, ScaledObject>;
  readonly hpaClient: HpaClient;
  readonly scales: Pick<ScaleClient, 'get' | 'set'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly states: ScaledObjectStates;
  readonly kedaDetector: Pick<KedaDetector, 'isManagedByKeda'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Version of this program. */
  readonly version: string;
  /** Resources for which a LimitRange of the namespace sets a default. */
  readonly limitedByDefault: (namespace: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/** Adds what belongs to one reconcile of one object. */
export interface ReconcileOptions extends ScaledObjectDependencies {
  readonly prepared: PreparedScaledObject;
  /** Records events of this object. */
  readonly own: ObjectEvents;
  readonly signal: AbortSignal;
}

/** State of one object beside its status, for a term as leader; losing it is harmless. */
interface ScaledObjectState {
  /** The generation whose start was reported by events. */
  startedGeneration: number | undefined;
  /** By the monotonic clock; more precise than `lastActiveTime`, which is written once a minute and depends on the wall clock. */
  lastActiveAtMs: number | undefined;
  /** Whether the finalizer was removed. That has no resource version of its own if it was the last finalizer. */
  isReleased: boolean;
  hpa: WrittenHpa | undefined;
  readonly health: HealthCounter;
  /** The last reported error by metric, so that each is reported once. */
  readonly failures: Map<string, string>;
  /** The next action, for the page and the debug endpoint. */
  next: NextStep | undefined;
  /** Of its target. */
  readonly replicas: ReplicaHistory;
}

/** States of all ScaledObjects for one term as leader. */
export class ScaledObjectStates {
  readonly #states = new Map<string, ScaledObjectState>();
  readonly #uids = new Map<string, string | undefined>();
  readonly #written = new MutationCache<ScaledObject>(({ metadata }) => metadata);

  of(key: string): ScaledObjectState {
    const existing = this.#states.get(key);
    if (existing) return existing;
    const fresh: ScaledObjectState = {
      startedGeneration: undefined,
      lastActiveAtMs: undefined,
      isReleased: false,
      hpa: undefined,
      health: new HealthCounter(),
      failures: new Map(),
      next: undefined,
      replicas: new ReplicaHistory(),
    };
    this.#states.set(key, fresh);
    return fresh;
  }

  /** The next action; does not create a state. */
  nextOf(key: string): ScaledObjectState['next'] {
    return this.#states.get(key)?.next;
  }

  /** The replicas of an object's target over time, if they are recorded. */
  replicasOf(key: string): Pick<ReplicaHistory, 'points'> | undefined {
    return this.#states.get(key)?.replicas;
  }

  /** The latest version of an object: the last own write if the informer does not have it yet. */
  latest(key: string, found: ScaledObject | undefined): ScaledObject | undefined {
    const uid = found?.metadata.uid;
    if (this.#uids.has(key) && this.#uids.get(key) !== uid) this.delete(key); // deleted and created again
    if (found) this.#uids.set(key, uid);
    if (found?.omitted !== undefined) return found;
    return this.#written.latest(key, found);
  }

  /** Records the result of an own write. */
  record(key: string, written: ScaledObject): void {
    this.#written.record(key, written);
  }

  delete(key: string): void {
    this.#states.delete(key);
    this.#uids.delete(key);
    this.#written.delete(key);
  }

  /** Ends the term: another leader may change the objects before the next one. */
  clear(): void {
    this.#states.clear();
    this.#uids.clear();
    this.#written.clear();
  }
}
