import type { NamespaceBudgetOptions } from '#lib/kubernetes/informer/namespace-budget.ts';
import { findWrongField } from '#lib/kubernetes/objects/find-wrong-field.ts';
import {
  type KubernetesObject,
  measureObject,
  readObject,
} from '#lib/kubernetes/objects/kubernetes-object.ts';
import { statusFieldsOnly } from '#lib/kubernetes/objects/managed-fields.ts';
import {
  type ObjectSchema,
  SCALED_JOB_SCHEMA,
  SCALED_OBJECT_SCHEMA,
  TRIGGER_AUTHENTICATION_SCHEMA,
} from './object-schemas.ts';
import { FIELD_MANAGER, LAST_APPLIED } from './resources.ts';
import type { ScaledJob } from './scaled-job.ts';
import type { ScaledObject } from './scaled-object.ts';
import type { TriggerAuthentication } from './trigger-authentication.ts';

/** An object of KEDA's kinds as informers cache it. */
export interface CachedObject extends KubernetesObject {
  /** Why the spec is not cached and the object cannot be used; absent if it is cached. */
  readonly omitted?: string;
  readonly status?: object;
}

/** Stands in for an omitted spec: readers find no triggers. */
const NO_SPEC = { scaleTargetRef: { name: '' }, jobTargetRef: {}, triggers: [] };
/** Limits for an object whose spec is omitted. */
const MAX_STATUS_BYTES = 64 * 1024;
const MAX_FINALIZERS_BYTES = 4 * 1024;
const MIB = 1024 * 1024;
/** 10,000 objects of 3 KiB. Three kinds are namespaced, and the program has 512 MiB. */
const MAX_NAMESPACE_BYTES = 32 * MIB;

const sizes = new WeakMap<object, number>();

/** Budget for the cached objects of one kind in a namespace, in bytes. Beyond it, specs are omitted. */
export function namespaceBudget<T extends CachedObject>(): NamespaceBudgetOptions<T> {
  return {
    maxBytes: MAX_NAMESPACE_BYTES,
    sizeBytes: (object) => sizes.get(object) ?? measureObject(object),
    reduce: (object) =>
      object.omitted === undefined
        ? omitSpec(
            object,
            `the objects of this kind in the namespace together take more than ${MAX_NAMESPACE_BYTES / MIB} MiB`,
          )
        : object,
  };
}

/** @throws when the object has no name */
export const readScaledObject = (value: unknown) =>
  readCachedObject<ScaledObject>(value, SCALED_OBJECT_SCHEMA);

/** @throws when the object has no name */
export const readScaledJob = (value: unknown) => readCachedObject<ScaledJob>(value, SCALED_JOB_SCHEMA);

/** Reads either authentication kind. @throws when the object has no name */
export const readTriggerAuthentication = (value: unknown) =>
  readCachedObject<TriggerAuthentication>(value, TRIGGER_AUTHENTICATION_SCHEMA);

/**
 * Reads the fields of an object that are used. If it is nested too deep, has too many values, or has a field of another type
 * than its definition declares, the spec is omitted: the controller reports the reason in a condition and still releases the
 * finalizer. A status with a field of a wrong type is dropped and written again.
 */
function readCachedObject<T extends CachedObject>(value: unknown, schema: ObjectSchema): T {
  const { metadata, status, ...rest } = readObject<
    T & { readonly spec?: unknown; readonly metadata: { readonly managedFields?: unknown } }
  >(value);
  const { managedFields, annotations, ...own } = metadata;
  const { [LAST_APPLIED]: _, ...used } = annotations ?? {};
  const fields = statusFieldsOnly(managedFields, FIELD_MANAGER);
  const object = {
    ...rest,
    metadata: { ...own, ...(annotations && { annotations: used }), ...(fields && { managedFields: fields }) },
    ...(status !== undefined && !findWrongField(schema.status, 'status', status) && { status }),
  } as unknown as T;
  try {
    sizes.set(object, measureObject(object));
  } catch (error) {
    return omitSpec(object, error instanceof Error ? error.message : String(error));
  }
  const wrong = findWrongField(schema.spec, 'spec', rest.spec);
  return wrong === undefined ? object : omitSpec(object, wrong);
}

/** The generation is omitted too, so that results computed from an earlier spec are discarded. */
function omitSpec<T extends CachedObject>({ apiVersion, kind, metadata, status }: T, omitted: string): T {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, finalizers } =
    metadata;
  const isSmall = (value: unknown, maxBytes: number) => {
    try {
      return measureObject(value) <= maxBytes;
    } catch {
      return false;
    }
  };
  return {
    ...{ apiVersion, kind, omitted, spec: NO_SPEC },
    metadata: {
      ...{ name, namespace, uid, resourceVersion, creationTimestamp },
      ...(deletionTimestamp && { deletionTimestamp }),
      ...(isSmall(finalizers, MAX_FINALIZERS_BYTES) && { finalizers }),
    },
    ...(isSmall(status, MAX_STATUS_BYTES) && { status }),
  } as unknown as T;
}
