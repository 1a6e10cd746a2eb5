/** The part of `metav1.ObjectMeta` that the simulator gives its objects; plain JSON. */
export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  /** Absent for objects of the cluster scope. */
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  /** RFC 3339 in whole seconds, as all stamps of the API. */
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly unknown[];
  readonly managedFields?: readonly unknown[];
}

/** An object of the API as it is stored and served: immutable, and in the field order of the real server. */
export interface KubernetesObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** An object before the store has given it what only a store can give. */
export interface NewObject extends Omit<KubernetesObject, 'metadata'> {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: Partial<ObjectMeta> & { readonly name: string };
  readonly [field: string]: unknown;
}

/** A moment as the API writes it: RFC 3339, the second that has begun. */
export function formatTimestamp(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

/** A field of an object at a path, `undefined` where any step is missing. */
export function fieldAt(object: unknown, ...path: readonly string[]): unknown {
  let current = object;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Object.hasOwn(current, key) ? (current as Record<string, unknown>)[key] : undefined;
  }
  return current;
}
