import type { Clock } from '#lib/time/clock.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import type { ResourceRegistry } from '../resources/resource-registry.ts';
import type { Dependents, Place } from './dependents.ts';

/** What the controllers read and write. */
export interface ControllerContext {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly registry: ResourceRegistry;
  readonly dependents: Dependents;
  /** Has an object looked at again after a while. */
  again(place: Place, afterMs: number): void;
}
