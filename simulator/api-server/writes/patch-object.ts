import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { convertFromStorage, groupVersion } from '../../resources/resource-type.ts';
import { isRecord } from '../../resources/schema.ts';
import { requiredValue } from '../../resources/validate.ts';
import { ApiError, badRequest, invalidObject, notFound } from '../status.ts';
import { refuseNulls } from './conform-object.ts';
import { createObject } from './create-object.ts';
import { compare, type ManagedFieldsEntry, readManagedFields, trackUpdate } from './managed-fields.ts';
import { managerOf, type ObjectWrite } from './object-write.ts';
import { jsonPatch, mergePatch, PatchError, strategicMergePatch } from './patches.ts';
import { asObject, mediaTypeOf, readStructured } from './read-object.ts';
import { type ApplyConflict, serverSideApply, withEmptyTextsAsNulls } from './server-side-apply.ts';
import { updateObject } from './update-object.ts';

/** The minor version of Kubernetes 1 that refuses empty texts in applied custom resources. */
const LAST_WITHOUT_EMPTY_TEXTS = 20;

interface Patched {
  readonly object: KubernetesObject;
  readonly isNew: boolean;
}

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

/**
 * Changes an object by a patch of any type; server-side apply may create it.
 *
 * @throws ApiError 404, 409 or 422 as the API has it, 415 for a patch type that the resource does not support
 */
export async function patchObject(write: ObjectWrite): Promise<Patched> {
  const { request, target, type, context } = write;
  requireKnownType(mediaTypeOf(request), type.isCustom);
  const patch = await readStructured(request);
  const previous = context.store.get(type.storage, target.namespace, target.name ?? '');
  if (mediaTypeOf(request) === APPLY_PATCH) return applyObject(patch, previous, write);
  if (!previous) throw notFound(target, target.name ?? '');
  const patched = patchedValue(convertFromStorage(previous, type), patch, write);
  return { object: updateObject(patched, previous, write), isNew: false };
}

/** Applies a JSON, merge or strategic merge patch to a value. */
export function patchedValue(
  value: unknown,
  patch: unknown,
  { request, type }: Pick<ObjectWrite, 'request' | 'type'>,
): unknown {
  try {
    switch (mediaTypeOf(request)) {
      case JSON_PATCH:
        return jsonPatch(value, patch);
      case STRATEGIC_PATCH:
        return strategicMergePatch(value, patch, type.schema);
      default:
        return mergePatch(value, patch);
    }
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    if (!error.isAboutObject) throw badRequest(error.message);
    throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {
      causes: [{ reason: 'UnexpectedServerResponse', message: error.message }],
    });
  }
}

/** @throws ApiError 415 */
export function requireKnownType(mediaType: string, isCustom: boolean): void {
  const accepted = [JSON_PATCH, MERGE_PATCH, ...(isCustom ? [] : [STRATEGIC_PATCH]), APPLY_PATCH];
  if (accepted.includes(mediaType)) return;
  throw new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    {},
  );
}

function applyObject(
  configuration: unknown,
  previous: KubernetesObject | undefined,
  write: ObjectWrite,
): Patched {
  const { type, options, target, context } = write;
  checkConfiguration(configuration, write);
  const manager = managerOf(write, 'Apply');
  const before = previous && convertFromStorage(previous, type);
  if (!before && target.subresource !== undefined) throw notFound(target, target.name ?? '');
  const owned = before ? ownershipsOf(before, write) : [];
  const given = ownPart(asObject(configuration, write), write);
  const isOld = type.isCustom && context.minor === LAST_WITHOUT_EMPTY_TEXTS;
  const desired = isOld ? (withEmptyTextsAsNulls(given) as KubernetesObject) : given;
  const applied = serverSideApply(before ?? {}, desired, {
    manager,
    ownerships: owned,
    schema: type.schema,
    force: options.force,
  });
  if ('conflicts' in applied) throw applyConflict(applied.conflicts);
  const { object, ownerships } = applied;
  if (isOld) refuseNulls(object as KubernetesObject, write);
  return previous
    ? { object: updateObject(object, previous, write, ownerships), isNew: false }
    : { object: createObject(object, write, ownerships), isNew: true };
}

function checkConfiguration(configuration: unknown, { options, type }: ObjectWrite): void {
  if (!options.isFieldManagerGiven)
    throw invalidObject({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
      requiredValue('fieldManager', 'is required for apply patch'),
    ]);
  if (!isRecord(configuration)) throw badRequest('error decoding YAML: it is no object');
  if (configuration.apiVersion !== groupVersion(type) || configuration.kind !== type.kind)
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${configuration.apiVersion}, expected: ${groupVersion(type)}`,
    );
  const { metadata } = configuration;
  if (isRecord(metadata) && metadata.managedFields !== undefined)
    throw badRequest('metadata.managedFields must be nil');
}

/** The managed fields before a first apply, which go to a manager of that name. */
function ownershipsOf(before: KubernetesObject, { type }: ObjectWrite): readonly ManagedFieldsEntry[] {
  const accepted = readManagedFields(before.metadata.managedFields);
  if (accepted.length > 0) return accepted;
  const manager = {
    manager: 'before-first-apply',
    operation: 'Update',
    apiVersion: groupVersion(type),
  } as const;
  return trackUpdate([], manager, compare({}, before, type.schema));
}

/** The part of a configuration that an endpoint changes: the status, or everything else. */
function ownPart(object: KubernetesObject, { type, target }: ObjectWrite): KubernetesObject {
  const { status, ...rest } = object;
  if (target.subresource === 'status') {
    const { kind, apiVersion, metadata } = object;
    const { name, namespace, resourceVersion, uid } = metadata;
    const identity = JSON.parse(JSON.stringify({ name, namespace, resourceVersion, uid }));
    return { kind, apiVersion, metadata: identity, ...(status === undefined ? {} : { status }) };
  }
  return type.hasStatus ? rest : object;
}

function applyConflict(conflicts: readonly ApplyConflict[]): ApiError {
  const owners = [...new Set(conflicts.map(({ owner }) => owner))];
  const [first] = conflicts;
  const details =
    first && conflicts.length === 1
      ? `conflict with ${nameOf(first.owner)}: ${first.field}`
      : owners
          .map((owner) => {
            const fields = conflicts.filter((one) => one.owner === owner).map(({ field }) => `- ${field}`);
            return `conflicts with ${nameOf(owner)}:\n${fields.join('\n')}`;
          })
          .sort()
          .join('\n');
  const count = `${conflicts.length} conflict${conflicts.length === 1 ? '' : 's'}`;
  return new ApiError(409, 'Conflict', `Apply failed with ${count}: ${details}`, {
    causes: conflicts.map(({ owner, field }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${nameOf(owner)}`,
      field,
    })),
  });
}

function nameOf({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  const name = `${JSON.stringify(manager)}${subresource ? ` with subresource ${JSON.stringify(subresource)}` : ''}`;
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
