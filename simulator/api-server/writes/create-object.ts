import { randomUUID } from 'node:crypto';
import { formatTimestamp, type KubernetesObject } from '../../objects/kubernetes-object.ts';
import type { ResourceType } from '../../resources/resource-type.ts';
import { ApiError, alreadyExists } from '../status.ts';
import { conformObject } from './conform-object.ts';
import {
  compare,
  type FieldManager,
  type ManagedFieldsEntry,
  trackUpdate,
  writeManagedFields,
} from './managed-fields.ts';
import { managerOf, type ObjectWrite } from './object-write.ts';
import { asObject, requireNamespace } from './read-object.ts';

/**
 * Creates an object from a body.
 *
 * @param ownerships its managed fields, where the caller has computed them
 * @returns the object as stored, or as it would be stored
 * @throws ApiError 409 when the name exists, 500 for an object with a resourceVersion
 */
export function createObject(
  body: unknown,
  write: ObjectWrite,
  ownerships?: readonly ManagedFieldsEntry[],
): KubernetesObject {
  const { type, context, options } = write;
  const given = asObject(body, write);
  if (given.metadata.resourceVersion)
    throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created');
  const draft = asNew(given, type);
  requireNamespace(draft, write);
  const { namespace, name } = draft.metadata;
  const object = conformObject(draft, undefined, write);
  if (context.store.get(type.storage, namespace, name)) throw alreadyExists(type, name);
  const now = formatTimestamp(context.clock.nowMs());
  const owners = ownerships ?? ownershipOfAll(object, type, managerOf(write, 'Update'));
  const managedFields = writeManagedFields(owners, now);
  const stored = type.toStored?.(object) ?? { ...object, apiVersion: type.storageVersion };
  const complete = { ...stored, metadata: { ...stored.metadata, managedFields } };
  if (!options.isDryRun) return context.store.create(type.storage, complete);
  return { ...complete, metadata: { ...complete.metadata, uid: randomUUID(), creationTimestamp: now } };
}

/** Removes the fields that only the server sets, and adds the first generation and status. */
function asNew(draft: KubernetesObject, type: ResourceType): KubernetesObject {
  const {
    creationTimestamp: _created,
    resourceVersion: _version,
    uid: _uid,
    deletionTimestamp: _deleted,
    deletionGracePeriodSeconds: _grace,
    generation: _generation,
    managedFields: _managed,
    ...metadata
  } = draft.metadata;
  const { status, ...rest } = draft;
  const retainsStatus = !type.hasStatus || (type.takesInitialStatus && status !== undefined);
  const first = retainsStatus ? status : type.initialStatus;
  const generation = type.hasGeneration ? { generation: 1 } : {};
  return {
    ...rest,
    metadata: { ...metadata, ...generation } as KubernetesObject['metadata'],
    ...(first === undefined ? {} : { status: first }),
  };
}

function ownershipOfAll(
  object: KubernetesObject,
  type: ResourceType,
  manager: FieldManager,
): readonly ManagedFieldsEntry[] {
  const { status: _status, ...owned } = object;
  return trackUpdate([], manager, compare({}, type.hasStatus ? owned : object, type.schema));
}
