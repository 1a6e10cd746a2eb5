import { fieldAt, type KubernetesObject } from '../../objects/kubernetes-object.ts';
import { convertFromStorage, type ScaleFields } from '../../resources/resource-type.ts';
import { isRecord } from '../../resources/schema.ts';
import { invalidValue } from '../../resources/validate.ts';
import { ApiError, badRequest, invalidObject, methodNotAllowed, notFound } from '../status.ts';
import { readManagedFields, trackUpdate } from './managed-fields.ts';
import { managerOf, type ObjectWrite } from './object-write.ts';
import { patchedValue, requireKnownType } from './patch-object.ts';
import { mediaTypeOf, readStructured } from './read-object.ts';
import { updateObject } from './update-object.ts';

const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;

/**
 * Returns or sets an object's replicas as a Scale.
 *
 * @returns the Scale of autoscaling/v1
 */
export async function serveScale(write: ObjectWrite, fields: ScaleFields): Promise<KubernetesObject> {
  const { request, target, type, context } = write;
  if (!['get', 'update', 'patch'].includes(request.verb)) throw methodNotAllowed();
  if (request.verb === 'patch') requireKnownType(mediaTypeOf(request), type.isCustom);
  const body = request.verb === 'get' ? undefined : await readStructured(request);
  const stored = context.store.get(type.storage, target.namespace, target.name ?? '');
  if (!stored) throw notFound(target, target.name ?? '');
  const object = convertFromStorage(stored, type);
  const scale = scaleOf(object, fields);
  if (request.verb === 'get') return scale;
  // An applied Scale works as a merge patch.
  const next = request.verb === 'update' ? body : patchedValue(scale, body, write);
  return scaleOf(setReplicas(next, { stored, object, fields, write }), fields);
}

function setReplicas(
  next: unknown,
  {
    stored,
    object,
    fields,
    write,
  }: {
    readonly stored: KubernetesObject;
    readonly object: KubernetesObject;
    readonly fields: ScaleFields;
    readonly write: ObjectWrite;
  },
): KubernetesObject {
  if (!isRecord(next) || (next.kind !== undefined && next.kind !== 'Scale'))
    throw badRequest(`expected a Scale of autoscaling/v1, got ${isRecord(next) ? next.kind : typeof next}`);
  const name = fieldAt(next, 'metadata', 'name');
  if (name !== undefined && name !== object.metadata.name)
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${object.metadata.name})`,
    );
  const replicas = fieldAt(next, 'spec', 'replicas') ?? 0;
  if (!Number.isInteger(replicas))
    throw badRequest(
      `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
    );
  if (Number(replicas) < 0)
    throw invalidObject(SCALE, object.metadata.name, [
      invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ]);
  const resourceVersion = fieldAt(next, 'metadata', 'resourceVersion');
  const uid = fieldAt(next, 'metadata', 'uid');
  const changed = fields.withReplicas(object, Number(replicas));
  const body = {
    ...changed,
    metadata: {
      ...changed.metadata,
      ...(typeof uid === 'string' && uid !== '' ? { uid } : {}),
      // Without a version, a Scale sets the replicas of the current object.
      resourceVersion:
        typeof resourceVersion === 'string' && resourceVersion !== ''
          ? resourceVersion
          : object.metadata.resourceVersion,
    },
  };
  const isChanged = fields.replicas(object) !== replicas;
  const path = fields.replicasPath.join('\n');
  const ownerships = trackUpdate(
    readManagedFields(object.metadata.managedFields),
    managerOf(write, 'Update'),
    {
      changed: new Set(isChanged ? [path] : []),
      removed: new Set(),
    },
  );
  return convertFromStorage(updateObject(body, stored, write, ownerships), write.type);
}

function scaleOf(object: KubernetesObject, fields: ScaleFields): KubernetesObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = fields.replicas(object);
  if (replicas === undefined)
    throw new ApiError(
      500,
      'InternalError',
      `Internal error occurred: the spec replicas field "${fields.replicasPath.map((one) => `.${one.slice(2)}`).join('')}" does not exist`,
      {},
    );
  const selector = fields.selector(object);
  return {
    kind: SCALE.kind,
    apiVersion: `${SCALE.group}/${SCALE.version}`,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    },
    // Go omits a zero.
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: fields.statusReplicas(object), ...(selector ? { selector } : {}) },
  };
}
