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

/** What the controller of ScaledObjects works with. */
export interface ScaledObjectDependencies {
  readonly objects: Watched & {
    find(key: string): ScaledObject | undefined;
    /** Those that have the target of one, or an HPA of the same name; it is among them. */
    overlapping(prepared: PreparedScaledObject): Iterable<PreparedScaledObject>;
  };
  readonly hpas: {
    find(key: string): ManagedHpa | undefined;
    /** Those of an object's target, and that which has the name of its own. */
    overlapping(prepared: PreparedScaledObject): Iterable<ManagedHpa>;
  };
  /** What has objects looked at again beside their own changes: their HPAs, their targets. */
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
  /** Who says which objects are to be left alone. */
  readonly kedaDetector: Pick<KedaDetector, 'isManagedByKeda'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of this program. */
  readonly version: string;
  /** Resources of which a namespace gives containers a default. */
  readonly limitedByDefault: (namespace: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/** The same for one reconcile of one object. */
export interface ReconcileOptions extends ScaledObjectDependencies {
  readonly prepared: PreparedScaledObject;
  /** Of this object. */
  readonly own: ObjectEvents;
  readonly signal: AbortSignal;
}

/** What a leader remembers of one object beside its status; all of it may be lost. */
interface ScaledObjectState {
  /** The generation of which it was told that its triggers are asked. */
  startedGeneration: number | undefined;
  /** By the monotonic clock. More exact than the status, which is not written every time, and does not follow the wall clock. */
  lastActiveAtMs: number | undefined;
  /** Whether our finalizer was removed. The API server lets an object go with its last one in no version of its own. */
  isReleased: boolean;
  /** What was written of its HPA. */
  hpa: WrittenHpa | undefined;
  readonly health: HealthCounter;
  /** What was told last of a failing trigger, by metric, so that it is told once. */
  readonly failures: Map<string, string>;
  /** What happens next, for those who look at the program. */
  next: NextStep | undefined;
  /** Of its target. */
  readonly replicas: ReplicaHistory;
}

/** What a leader remembers of objects; it begins and ends with its term. */
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

  /** What comes next for an object, without beginning to remember it. */
  nextOf(key: string): ScaledObjectState['next'] {
    return this.#states.get(key)?.next;
  }

  /** The replicas of an object's target over time, without beginning to remember it. */
  replicasOf(key: string): Pick<ReplicaHistory, 'points'> | undefined {
    return this.#states.get(key)?.replicas;
  }

  /** The object as it is now: as we wrote it last, where the informer does not show that yet. */
  latest(key: string, found: ScaledObject | undefined): ScaledObject | undefined {
    const uid = found?.metadata.uid;
    if (this.#uids.has(key) && this.#uids.get(key) !== uid) this.delete(key); // another one may have its name
    if (found) this.#uids.set(key, uid);
    if (found?.omitted !== undefined) return found;
    return this.#written.latest(key, found);
  }

  /** Notes an object as our write left it. */
  record(key: string, written: ScaledObject): void {
    this.#written.record(key, written);
  }

  delete(key: string): void {
    this.#states.delete(key);
    this.#uids.delete(key);
    this.#written.delete(key);
  }

  /** Ends the term: who acts meanwhile may do otherwise. */
  clear(): void {
    this.#states.clear();
    this.#uids.clear();
    this.#written.clear();
  }
}
