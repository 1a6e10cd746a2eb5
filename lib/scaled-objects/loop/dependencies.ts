import type { Collection } from '#lib/collection/collection.ts';
import type { Watched } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Workloads } from '../api/target-workloads.ts';
import type { ObjectEvents } from '../objects/object-events.ts';
import type { ScaledObject, ScaledObjectStatus } from '../objects/scaled-object.ts';
import type { OtherOperator } from '../other-operator/other-operator.ts';
import type { ScaledObjectPlans } from '../plan/scaled-object-plans.ts';
import type { HpaClient, ManagedHpa } from '../scaling/hpa-client.ts';
import type { WrittenStatuses } from '../statuses/written-statuses.ts';
import type { LoopMemories } from './loop-memory.ts';

/** What the controller of ScaledObjects works with. */
export interface ScaledObjectDependencies {
  readonly objects: Watched & {
    find(key: string): ScaledObject | undefined;
    /** Those that may want the same target or HPA as one, itself among them. */
    rivalsOf(object: ScaledObject): Iterable<ScaledObject>;
  };
  readonly hpas: {
    find(key: string): ManagedHpa | undefined;
    /** Those of an object's target, and that which has the name of its own. */
    beside(object: ScaledObject): Iterable<ManagedHpa>;
  };
  /** What has objects looked at again beside their own changes: their HPAs, their targets. */
  readonly others: readonly Watched[];
  readonly workloads: Workloads;
  readonly plans: ScaledObjectPlans;
  readonly collection: Collection;
  readonly client: ResourceClient<ScaledObject>;
  readonly statuses: WrittenStatuses<ScaledObjectStatus, ScaledObject>;
  readonly hpaClient: HpaClient;
  readonly scales: Pick<ScaleClient, 'get' | 'set'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly memories: LoopMemories;
  /** Who says which objects are to be left alone. */
  readonly otherOperator: Pick<OtherOperator, 'leaves'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of this program. */
  readonly version: string;
  /** Resources of which a namespace gives containers a default. */
  readonly limitedByDefault: (namespace: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/** The same for one reconcile of one object. */
export interface ReconcileOptions extends ScaledObjectDependencies {
  /** Of this object. */
  readonly own: ObjectEvents;
  readonly signal: AbortSignal;
}
