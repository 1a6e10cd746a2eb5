import type { Clock } from '#lib/time/clock.ts';
import type { Manager } from '../../apply/managed-fields.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import type { ResourceRegistry } from '../../resources/resource-registry.ts';
import { groupVersion, type ResourceType } from '../../resources/resource-type.ts';
import type { ApiRequest, ResourceTarget } from '../api-request.ts';
import type { WriteOptions } from './write-options.ts';

/** What handlers of stored resources work with. */
export interface ResourceContext {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly registry: ResourceRegistry;
  /** Of the Kubernetes that it behaves like. */
  readonly minor: number;
}

/** One request that writes an object. */
export interface ObjectWrite {
  readonly request: ApiRequest;
  readonly target: ResourceTarget;
  readonly type: ResourceType;
  readonly context: ResourceContext;
  readonly options: WriteOptions;
}

/** The first minor of Kubernetes 1 that tells by which subresource fields were set. */
const FIRST_WITH_SUBRESOURCES = 22;

/** As whom a write manages what it sets. */
export function managerOf(
  { type, target: { subresource }, context, options }: ObjectWrite,
  operation: Manager['operation'],
): Manager {
  const isTold = subresource !== undefined && context.minor >= FIRST_WITH_SUBRESOURCES;
  return {
    manager: options.fieldManager,
    operation,
    apiVersion: groupVersion(type),
    ...(isTold ? { subresource } : {}),
  };
}
