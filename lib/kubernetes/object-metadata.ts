/** What every Kubernetes object tells of itself, as far as caches need it. */
export interface ObjectMetadata {
  /** `namespace/name`, or the name alone where there is no namespace. */
  readonly key: string;
  /** Rises with every change; NaN where it is no number that a double holds exactly. */
  readonly version: number;
}

/** Reads an object's metadata; `undefined` for anything that is no named object. */
export function objectMetadata(object: unknown): ObjectMetadata | undefined {
  const metadata = propertyOf(object, 'metadata');
  const name = propertyOf(metadata, 'name');
  if (typeof name !== 'string' || name === '') return undefined;
  const namespace = propertyOf(metadata, 'namespace');
  const key = typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : name;
  return { key, version: versionOf(propertyOf(metadata, 'resourceVersion')) };
}

/** The resource version of a list or a bookmark, to go on from. */
export function resourceVersionOf(object: unknown): string | undefined {
  const resourceVersion = propertyOf(propertyOf(object, 'metadata'), 'resourceVersion');
  return typeof resourceVersion === 'string' && resourceVersion !== '' ? resourceVersion : undefined;
}

/** An own property of anything; `undefined` where there is none. */
export function propertyOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

function versionOf(resourceVersion: unknown): number {
  if (typeof resourceVersion !== 'string' || !/^\d+$/.test(resourceVersion)) return Number.NaN;
  const version = Number(resourceVersion);
  return Number.isSafeInteger(version) ? version : Number.NaN;
}
