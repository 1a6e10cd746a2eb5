/** The part of `metav1.ObjectMeta` that the simulator gives its objects; plain JSON. */
interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  /** Absent for objects of the cluster scope. */
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  /** RFC 3339 in whole seconds, as all timestamps of the API. */
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly unknown[];
  readonly managedFields?: readonly unknown[];
}

/** An object as stored and served: immutable, in the field order of the real server. */
export interface KubernetesObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** An object before it is stored: without the metadata that the store adds. */
export interface NewObject extends Omit<KubernetesObject, 'metadata'> {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: Partial<ObjectMeta> & { readonly name: string };
  readonly [field: string]: unknown;
}

/** Formats a timestamp of the API: RFC 3339, rounded down to seconds. */
export function formatTimestamp(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

/** A field at a path, `undefined` when a part of the path is missing. */
export function fieldAt(object: unknown, ...path: readonly string[]): unknown {
  let current = object;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Object.hasOwn(current, key) ? (current as Record<string, unknown>)[key] : undefined;
  }
  return current;
}
