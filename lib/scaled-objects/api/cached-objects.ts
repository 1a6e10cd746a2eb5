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
import { FIELD_MANAGER } from './resources.ts';
import type { ScaledJob } from './scaled-job.ts';
import type { ScaledObject } from './scaled-object.ts';
import type { TriggerAuthentication } from './trigger-authentication.ts';

/** An object of KEDA's kinds, as it is cached. */
export interface CachedObject extends KubernetesObject {
  /** Why its spec is not cached, so that the object cannot be used; absent where it is. */
  readonly omitted?: string;
  readonly status?: object;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** Where there is no spec, so that whatever reads one finds nothing in it. */
const NO_SPEC = { scaleTargetRef: { name: '' }, jobTargetRef: {}, triggers: [] };
/** Of what is cached of an object beside its spec. */
const MAX_STATUS_BYTES = 64 * 1024;
const MAX_FINALIZERS_BYTES = 4 * 1024;
/** 10,000 objects of 3 KiB. Three kinds are of a namespace, and the program has 512 MiB. */
const MAX_NAMESPACE_BYTES = 32 * 1024 * 1024;

const sizes = new WeakMap<object, number>();

/** How much is cached of the objects of one kind in a namespace. */
export function namespaceBudget<T extends CachedObject>(): NamespaceBudgetOptions<T> {
  return {
    maxBytes: MAX_NAMESPACE_BYTES,
    sizeBytes: (object) => sizes.get(object) ?? measureObject(object),
    reduce: (object) =>
      object.omitted === undefined
        ? omitSpec(
            object,
            `the objects of its kind in its namespace take more than ${MAX_NAMESPACE_BYTES} bytes`,
          )
        : object,
  };
}

/** Reads a ScaledObject. @throws when it has no name */
export const readScaledObject = (value: unknown) =>
  readCachedObject<ScaledObject>(value, SCALED_OBJECT_SCHEMA);

/** Reads a ScaledJob. @throws when it has no name */
export const readScaledJob = (value: unknown) => readCachedObject<ScaledJob>(value, SCALED_JOB_SCHEMA);

/** Reads a TriggerAuthentication or ClusterTriggerAuthentication. @throws when it has no name */
export const readTriggerAuthentication = (value: unknown) =>
  readCachedObject<TriggerAuthentication>(value, TRIGGER_AUTHENTICATION_SCHEMA);

/**
 * Takes what is used of an object. One that is nested too deep, has too many values or a field of another type than its kind's
 * definition gives it is taken without its spec: its controller reports that in a condition, and lets it go when it is deleted.
 * Where its status has such a field, it is taken as one without a status, which is written again.
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

/** Without its generation: what was made of it with its spec counts no more, and again once it has one. */
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
