import { type FieldSelector, parseFieldSelector } from '../objects/field-selector.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { type LabelSelector, parseLabelSelector } from '../objects/label-selector.ts';
import { keyOf, lowerBound, type ObjectStore, type StoreSnapshot } from '../objects/object-store.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { isTrue, type ResourceTarget } from './api-request.ts';
import { ApiError, badRequest, expired } from './status.ts';

/** One page of a list. */
export interface ListPage {
  readonly resourceVersion: number;
  readonly items: readonly KubernetesObject[];
  readonly continueToken?: string;
  /** Only without selectors: with them the server would have to read all remaining objects. */
  readonly remainingItemCount?: number;
}

/**
 * Lists a resource, page by page of one snapshot.
 *
 * @throws ApiError 400 for an invalid token, 410 for one whose snapshot is evicted, 504 for a future version
 */
export function listPage(
  store: ObjectStore,
  { storage }: Pick<ResourceType, 'storage'>,
  options: ListOptions,
): ListPage {
  const { namespace, limit } = options;
  const { snapshot, startKey } = snapshotFor(store, storage, options);
  const { resourceVersion } = snapshot;
  const scope =
    namespace === undefined
      ? snapshot.items
      : snapshot.items.filter(({ metadata }) => metadata.namespace === namespace);
  const items: KubernetesObject[] = [];
  let index = startKey === undefined ? 0 : lowerBound(scope, (object) => keyOfObject(object) >= startKey);
  for (let object = scope[index]; object; object = scope[++index]) {
    if (!isSelected(options, object)) continue;
    if (limit > 0 && items.length === limit) break;
    items.push(object);
  }
  const last = items.at(-1);
  if (index >= scope.length || !last) return { resourceVersion, items };
  const continueToken = writeContinueToken(resourceVersion, keyOfObject(last));
  return options.labels.isEverything && options.fields.isEverything
    ? { resourceVersion, items, continueToken, remainingItemCount: scope.length - index }
    : { resourceVersion, items, continueToken };
}

function snapshotFor(
  store: ObjectStore,
  resource: string,
  { continueToken, resourceVersion }: ListOptions,
): { readonly snapshot: StoreSnapshot; readonly startKey?: string } {
  if (continueToken !== '') {
    const token = readContinueToken(continueToken);
    const snapshot = store.snapshotAt(resource, token.resourceVersion);
    if (snapshot) return { snapshot, startKey: token.start };
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
    );
  }
  const snapshot = store.list(resource);
  if (resourceVersion !== undefined && resourceVersion > snapshot.resourceVersion) {
    throw versionTooLarge(resourceVersion, snapshot.resourceVersion);
  }
  return { snapshot };
}

/** 504: the caller requests a version that this server has not reached. */
export function versionTooLarge(requested: number, current: number): ApiError {
  return new ApiError(504, 'Timeout', `Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

function keyOfObject({ metadata }: KubernetesObject): string {
  return keyOf(metadata.namespace, metadata.name);
}

/** The position at which the next page of a list starts. */
interface ContinueToken {
  readonly resourceVersion: number;
  /** The first key that may be on the page. */
  readonly start: string;
}

/** Writes a token as the real server does: base64url of JSON, with the smallest key after the last one. */
export function writeContinueToken(resourceVersion: number, lastKey: string): string {
  const token = { v: 'meta.k8s.io/v1', rv: resourceVersion, start: `${lastKey}\0` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** @throws ApiError 400 for a token that this server did not write */
export function readContinueToken(token: string): ContinueToken {
  const text = Buffer.from(token, 'base64url').toString();
  try {
    const { v, rv, start } = JSON.parse(text) as { v?: unknown; rv?: unknown; start?: unknown };
    if (v === 'meta.k8s.io/v1' && typeof rv === 'number' && typeof start === 'string') {
      return { resourceVersion: rv, start };
    }
  } catch {
    throw badRequest(
      `invalid continue token: continue key is not valid: invalid character '${[...text][0] ?? ''}' looking for beginning of value`,
    );
  }
  throw badRequest(
    'invalid continue token: continue key is not valid: server does not recognize this encoded version',
  );
}

/** `metav1.ListOptions`, parsed and validated. */
export interface ListOptions {
  readonly namespace: string | undefined;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** `undefined` when the caller does not set it. */
  readonly resourceVersion: number | undefined;
  readonly limit: number;
  readonly continueToken: string;
  readonly allowWatchBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
}

/** @throws ApiError 400, as the real server */
export function listOptions(target: ResourceTarget, query: URLSearchParams): ListOptions {
  return {
    namespace: target.namespace,
    labels: readOr400(() => parseLabelSelector(query.get('labelSelector') ?? '')),
    fields: readOr400(() => parseFieldSelector(query.get('fieldSelector') ?? '', target)),
    resourceVersion: resourceVersionOf(query.get('resourceVersion') ?? ''),
    limit: numberOf(query, 'limit') ?? 0,
    continueToken: query.get('continue') ?? '',
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    timeoutSeconds: numberOf(query, 'timeoutSeconds'),
  };
}

/** Whether the response contains an object. */
export function isSelected({ namespace, labels, fields }: ListOptions, object: KubernetesObject): boolean {
  return (
    (namespace === undefined || object.metadata.namespace === namespace) &&
    labels.matches(object.metadata.labels ?? {}) &&
    fields.matches(object)
  );
}

function readOr400<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error));
  }
}

function resourceVersionOf(text: string): number | undefined {
  if (text === '') return undefined;
  if (!/^\d+$/.test(text)) {
    throw badRequest(`Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`);
  }
  return Number(text);
}

function numberOf(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key);
  if (text === null || text === '') return undefined;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text);
}
