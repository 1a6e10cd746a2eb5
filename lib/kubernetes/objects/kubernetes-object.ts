import type { V1ObjectMeta, V1OwnerReference } from '@kubernetes/client-node';
import type { Wire } from '../wire.ts';
export type OwnerReference = Wire<V1OwnerReference>;

/** Metadata of an object with a name; `deletionTimestamp` is set while a deleted object waits for its finalizers. */
export type ObjectMeta = Wire<V1ObjectMeta> & { readonly name: string };

/** Any object of the Kubernetes API. Items of lists may lack version and kind. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** Identifies an object of a resource. */
export interface ObjectName {
  /** Empty or absent where the resource is not namespaced. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** A reference to an object. */
export interface ObjectReference extends ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/**
 * Checks the metadata of a Kubernetes object, by hand since every cached object passes here; its reader must check the
 * other fields. As in Go, a field of its metadata that is null counts as absent.
 *
 * @throws an Error with the name of the field that has the wrong type, or when the object has no name
 */
export function readObject<T extends KubernetesObject = KubernetesObject>(value: unknown): T {
  const metadata = isRecord(value) ? value.metadata : undefined;
  if (!isRecord(metadata) || typeof metadata.name !== 'string' || metadata.name === '')
    throw new Error('Cannot read object: no name');
  let hasNull = false;
  for (const field in metadata) {
    const given = metadata[field];
    if (given === undefined) continue;
    if (given === null) {
      hasNull = true;
      continue;
    }
    const wrong = METADATA_FIELDS.get(field)?.(given);
    if (wrong !== undefined) throw new Error(`Cannot read object: metadata.${field}${wrong}`);
  }
  if (!hasNull) return value as T;
  const given = Object.entries(metadata).filter(([, field]) => field !== null);
  return { ...(value as T), metadata: Object.fromEntries(given) };
}

/** Says what is wrong, to follow the name of the field; `undefined` where nothing is. */
type FieldCheck = (value: unknown) => string | undefined;

const text: FieldCheck = (value) => (typeof value === 'string' ? undefined : ' is not a string');
const number: FieldCheck = (value) => (typeof value === 'number' ? undefined : ' is not a number');
const flag: FieldCheck = (value) =>
  value === undefined || typeof value === 'boolean' ? undefined : ' is not a boolean';

const texts: FieldCheck = (value) => {
  if (!isRecord(value)) return ' is not an object';
  for (const key in value) if (typeof value[key] !== 'string') return `.${shortKey(key)} is not a string`;
  return undefined;
};

const OWNER_FIELDS = Object.entries({
  ...{ apiVersion: text, kind: text, name: text, uid: text, controller: flag, blockOwnerDeletion: flag },
});

/** Of the fields that Kubernetes gives metadata, those whose types are relied on. */
const METADATA_FIELDS: ReadonlyMap<string, FieldCheck> = new Map(
  Object.entries({
    ...{ namespace: text, uid: text, resourceVersion: text, generation: number },
    ...{ creationTimestamp: text, deletionTimestamp: text, labels: texts, annotations: texts },
    finalizers: (value) => listOf(value, text),
    ownerReferences: (value) =>
      listOf(value, (owner) => {
        if (!isRecord(owner)) return ' is not an object';
        for (const [field, check] of OWNER_FIELDS) {
          const wrong = check(owner[field]);
          if (wrong !== undefined) return `.${field}${wrong}`;
        }
        return undefined;
      }),
  } satisfies Record<string, FieldCheck>),
);

function listOf(value: unknown, check: FieldCheck): string | undefined {
  if (!Array.isArray(value)) return ' is not a list';
  for (const [index, item] of value.entries()) {
    const wrong = check(item);
    if (wrong !== undefined) return `.${index}${wrong}`;
  }
  return undefined;
}

/** Of a key that a user has given. */
const MAX_KEY_LENGTH = 63;

function shortKey(key: string): string {
  return key.slice(0, MAX_KEY_LENGTH);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Pod templates, the deepest structures of objects, have 15 levels. */
const MAX_DEPTH = 64;
/** An empty list takes 20 times its text in memory: an object of etcd's maximum size would take 30 MB. */
const MAX_VALUES = 20_000;
/** Of one value, beside its text. */
const VALUE_BYTES = 32;

/**
 * Checks an object that is cached as a whole, so that its size matters: definitions that preserve unknown fields accept
 * whatever fits into etcd, and a few such objects would exhaust the memory.
 *
 * @throws when it has no name, is nested too deep, or has too many values
 */
export function readBoundedObject<T extends KubernetesObject = KubernetesObject>(value: unknown): T {
  const object = readObject<T>(value);
  measureObject(object);
  return object;
}

/**
 * Approximate memory of an object in bytes.
 *
 * @param maxValues by default 20,000
 * @throws when it is nested too deep, or has too many values
 */
export function measureObject(value: unknown, maxValues = MAX_VALUES): number {
  const measured = { values: 0, bytes: 0, maxValues };
  measure(value, 0, measured);
  return measured.bytes + VALUE_BYTES * measured.values;
}

interface Measured {
  values: number;
  bytes: number;
  readonly maxValues: number;
}

function measure(value: unknown, depth: number, measured: Measured): void {
  const { maxValues } = measured;
  if (depth > MAX_DEPTH) throw new Error(`Cannot read object: more than ${MAX_DEPTH} levels of nesting`);
  if (measured.values >= maxValues) throw new Error(`Cannot read object: more than ${maxValues} values`);
  measured.values++;
  if (typeof value === 'string') measured.bytes += value.length;
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) measure(item, depth + 1, measured);
    return;
  }
  for (const key in value) {
    measured.bytes += key.length;
    measure((value as Record<string, unknown>)[key], depth + 1, measured);
  }
}

/** `namespace/name`, or the name alone without a namespace: the key of informers and work queues. */
export function keyOf({ namespace, name }: ObjectName): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** The inverse of {@link keyOf}. */
export function nameOfKey(key: string): ObjectName {
  const slash = key.indexOf('/');
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The part of an object's metadata that caches need. */
interface ObjectMetadata {
  /** `namespace/name`, or the name alone without a namespace. */
  readonly key: string;
  /** Increases with every change; NaN where it is not a number that a double represents exactly. */
  readonly version: number;
}

/** Reads an object's metadata; `undefined` for anything but a named object. */
export function objectMetadata(object: unknown): ObjectMetadata | undefined {
  const metadata = propertyOf(object, 'metadata');
  const name = propertyOf(metadata, 'name');
  if (typeof name !== 'string' || name === '') return undefined;
  const namespace = propertyOf(metadata, 'namespace');
  const key = typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : name;
  return { key, version: versionOf(propertyOf(metadata, 'resourceVersion')) };
}

/** The resource version of a list or a bookmark, to continue from. */
export function resourceVersionOf(object: unknown): string | undefined {
  const resourceVersion = propertyOf(propertyOf(object, 'metadata'), 'resourceVersion');
  return typeof resourceVersion === 'string' && resourceVersion !== '' ? resourceVersion : undefined;
}

/** An own property of any value; `undefined` where there is none. */
export function propertyOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

function versionOf(resourceVersion: unknown): number {
  if (typeof resourceVersion !== 'string' || !/^\d+$/.test(resourceVersion)) return Number.NaN;
  const version = Number(resourceVersion);
  return Number.isSafeInteger(version) ? version : Number.NaN;
}

/** Parses JSON; `undefined` for invalid text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Whether a text is a DNS label (RFC 1123) of at most 63 characters, as names of namespaces and Services are. */
export function isDnsLabel(text: string): boolean {
  return LABEL.test(text);
}
