import { lowerBound } from '../lower-bound.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { keyOf, type ObjectStore, type StoreSnapshot } from '../objects/object-store.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { readContinueToken, writeContinueToken } from './continue-token.ts';
import { isSelected, type ListOptions } from './list-options.ts';
import { ApiError, expired } from './status.ts';

/** One page of a list. */
export interface ListPage {
  readonly resourceVersion: number;
  readonly items: readonly KubernetesObject[];
  readonly continueToken?: string;
  /** Only without selectors: to know it with them, the server would have to read on. */
  readonly remainingItemCount?: number;
}

/**
 * Lists a resource, page by page of one snapshot.
 *
 * @throws ApiError 400 for a foreign token, 410 for one whose snapshot is gone, 504 for a version yet to come
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

/** 504: the caller has seen a version that this server has not. */
export function versionTooLarge(asked: number, current: number): ApiError {
  return new ApiError(504, 'Timeout', `Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

function keyOfObject({ metadata }: KubernetesObject): string {
  return keyOf(metadata.namespace, metadata.name);
}
