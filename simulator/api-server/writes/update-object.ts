import { isDeepStrictEqual } from 'node:util';
import { updateOrRemove } from '../../objects/deletion.ts';
import { formatTimestamp, type KubernetesObject } from '../../objects/kubernetes-object.ts';
import { convertFromStorage, type ResourceType } from '../../resources/resource-type.ts';
import { isRecord } from '../../resources/schema.ts';
import { invalidValue } from '../../resources/validate.ts';
import { conflict, invalidObject } from '../status.ts';
import { conformObject, withoutNulls } from './conform-object.ts';
import {
  compare,
  type ManagedFieldsEntry,
  readManagedFields,
  trackUpdate,
  writeManagedFields,
} from './managed-fields.ts';
import { managerOf, type ObjectWrite } from './object-write.ts';
import { asObject } from './read-object.ts';

/**
 * Updates an object; fields that only the server sets do not change. An unchanged object is not stored.
 *
 * @param previous as stored
 * @param ownerships the managed fields after the update; computed from the changes by default
 * @throws ApiError 409 when the new state was made from an older version, 422 when it is invalid
 */
export function updateObject(
  body: unknown,
  previous: KubernetesObject,
  write: ObjectWrite,
  ownerships?: readonly ManagedFieldsEntry[],
): KubernetesObject {
  const { type, context, options, target } = write;
  const { store, clock } = context;
  const before = convertFromStorage(previous, type);
  const given = asObject(body, write);
  checkIdentity(given, before, write);
  const draft =
    target.subresource === 'status' ? withStatusOf(given, before, type) : withSpecOf(given, before, type);
  checkFinalizers(draft, before, type);
  const object = conformObject(draft, before, write);
  const generation = generationAfter(object, before, type);
  const oldOwners = ownersBefore(given, before);
  const owners =
    ownerships ?? trackUpdate(oldOwners, managerOf(write, 'Update'), compare(before, object, type.schema));
  const managedFields = writeManagedFields(owners, formatTimestamp(clock.nowMs()));
  const stored = type.toStored?.(object) ?? { ...object, apiVersion: type.storageVersion };
  const { managedFields: _managed, resourceVersion: _version, ...metadata } = stored.metadata;
  const next = {
    ...stored,
    metadata: { ...metadata, ...generation, ...(managedFields.length > 0 ? { managedFields } : {}) },
  } as KubernetesObject;
  if (isSameState(next, previous) || options.isDryRun)
    return {
      ...(options.isDryRun ? next : previous),
      metadata: {
        ...(options.isDryRun ? next : previous).metadata,
        resourceVersion: previous.metadata.resourceVersion,
      },
    };
  return updateOrRemove(next, { store, storage: type.storage }).object;
}

/** Checks UID and version: an update's UID is validated first, a patch's version. */
function checkIdentity(given: KubernetesObject, before: KubernetesObject, write: ObjectWrite): void {
  const { type, request } = write;
  const { uid, name } = given.metadata;
  const isOther = uid && uid !== before.metadata.uid;
  if (isOther && request.verb !== 'patch')
    throw conflict(
      type,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`,
    );
  checkVersion(given, before, write);
  if (!isOther) return;
  throw invalidObject(type, name, [
    {
      ...invalidValue('metadata.uid', uid, ''),
      message: `Invalid value: ${JSON.stringify(uid)}: field is immutable`,
    },
  ]);
}

function checkVersion(
  given: KubernetesObject,
  before: KubernetesObject,
  { type, request }: ObjectWrite,
): void {
  const { resourceVersion, name } = given.metadata;
  if (!resourceVersion || resourceVersion === '0') {
    if (!type.allowsUnconditionalUpdate && request.verb === 'update')
      throw invalidObject(type, name, [
        {
          ...invalidValue('metadata.resourceVersion', '', ''),
          message: 'Invalid value: 0x0: must be specified for an update',
        },
      ]);
    return;
  }
  if (resourceVersion !== before.metadata.resourceVersion)
    throw conflict(
      type,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
}

function withStatusOf(
  given: KubernetesObject,
  before: KubernetesObject,
  type: ResourceType,
): KubernetesObject {
  const { status: _status, ...rest } = before;
  const metadata = withAnnotationsOf(given, before.metadata, type);
  return { ...rest, metadata, ...(given.status === undefined ? {} : { status: given.status }) };
}

/** Metadata with the annotations that represent the status, taken from an object. */
function withAnnotationsOf(
  { metadata: { annotations: given = {} } }: KubernetesObject,
  metadata: KubernetesObject['metadata'],
  { statusAnnotations = [] }: ResourceType,
): KubernetesObject['metadata'] {
  if (statusAnnotations.length === 0) return metadata;
  const { annotations: before = {}, ...others } = metadata;
  const isOfStatus = ([name]: [string, string]) => statusAnnotations.includes(name);
  const annotations = Object.fromEntries([
    ...Object.entries(before).filter((one) => !isOfStatus(one)),
    ...Object.entries(given).filter(isOfStatus),
  ]);
  return { ...others, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) };
}

function withSpecOf(given: KubernetesObject, before: KubernetesObject, type: ResourceType): KubernetesObject {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation, generateName } =
    before.metadata;
  const {
    deletionTimestamp: _deleted,
    deletionGracePeriodSeconds: _grace,
    generation: _generation,
    generateName: _generateName,
    ...metadata
  } = given.metadata;
  const { status: givenStatus, ...rest } = given;
  const status = type.hasStatus ? before.status : givenStatus;
  return {
    ...rest,
    metadata: {
      ...withAnnotationsOf(before, metadata, type),
      ...(generateName === undefined ? {} : { generateName }),
      uid,
      creationTimestamp,
      ...(generation === undefined ? {} : { generation }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
    },
    ...(status === undefined ? {} : { status }),
  };
}

function checkFinalizers(draft: KubernetesObject, before: KubernetesObject, type: ResourceType): void {
  if (before.metadata.deletionTimestamp === undefined) return;
  const old = before.metadata.finalizers ?? [];
  const added = (draft.metadata.finalizers ?? []).filter((one) => !old.includes(one));
  if (added.length === 0) return;
  const list = added.map((one) => JSON.stringify(one)).join(', ');
  throw invalidObject(type, draft.metadata.name, [
    {
      field: 'metadata.finalizers',
      reason: 'FieldValueForbidden',
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    },
  ]);
}

/** The generation counts changes of everything but metadata and, where it is a subresource, the status. */
function generationAfter(
  object: KubernetesObject,
  before: KubernetesObject,
  type: ResourceType,
): { generation?: number } {
  if (!type.hasGeneration) return {};
  const desired = ({ metadata: _metadata, status, ...rest }: KubernetesObject) =>
    withoutNulls(type.hasStatus ? rest : { ...rest, status });
  const { generation = 1 } = before.metadata;
  return { generation: isDeepStrictEqual(desired(object), desired(before)) ? generation : generation + 1 };
}

/** The managed fields before an update; a caller that sends one empty entry removes them all. */
function ownersBefore(given: KubernetesObject, before: KubernetesObject): readonly ManagedFieldsEntry[] {
  const [first, ...more] = given.metadata.managedFields ?? [];
  const isReset = isRecord(first) && Object.keys(first).length === 0 && more.length === 0;
  return isReset ? [] : readManagedFields(before.metadata.managedFields);
}

function isSameState(next: KubernetesObject, previous: KubernetesObject): boolean {
  return isDeepStrictEqual(comparable(next), comparable(previous));
}

function comparable(object: KubernetesObject): unknown {
  const { managedFields = [], resourceVersion: _version, ...metadata } = object.metadata;
  const owners = readManagedFields(managedFields).map(({ time: _time, ...owner }) => owner);
  return withoutNulls({
    ...object,
    metadata: {
      ...metadata,
      owners: owners.map((owner) => ({ ...owner, fields: [...owner.fields].sort() })),
    },
  });
}
