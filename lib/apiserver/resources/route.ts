import type { DocumentResource, ObjectResource, ServedResource } from '#lib/apiserver/api-group.ts';

/** Where a path below a version leads. */
export type Route =
  | { readonly type: 'list'; readonly resource: ObjectResource; readonly namespace: string | undefined }
  | RouteTo<'get', ObjectResource>
  | RouteTo<'read', DocumentResource>;

interface RouteTo<Type, Resource> {
  readonly type: Type;
  readonly resource: Resource;
  /** Empty for what has no namespace. */
  readonly namespace: string;
  /** Empty where a document is read at its resource's own path. */
  readonly name: string;
}

/**
 * Finds where a path leads: `RESOURCE`, `RESOURCE/NAME` and `RESOURCE/NAME/SUBRESOURCE`, all of them also behind
 * `namespaces/NAMESPACE/`. What has namespaces is addressed inside of one, except that it can be listed over all.
 *
 * @param segments of the path behind group and version
 */
export function matchRoute(
  resources: readonly ServedResource[],
  segments: readonly string[],
): Route | undefined {
  const isInNamespace = segments[0] === 'namespaces' && segments.length > 2;
  const namespace = isInNamespace ? (segments[1] ?? '') : '';
  const [first = '', name = '', subresource, ...rest] = isInNamespace ? segments.slice(2) : segments;
  if (rest.length > 0) return undefined;
  const resource = findResource(resources, subresource === undefined ? first : `${first}/${subresource}`);
  if (!resource) return undefined;
  if (resource.type === 'document') {
    const isAddressed = resource.isNamespaced === isInNamespace && (subresource !== undefined || name === '');
    return isAddressed ? { type: 'read', resource, namespace, name } : undefined;
  }
  if (name !== '') {
    return resource.isNamespaced === isInNamespace ? { type: 'get', resource, namespace, name } : undefined;
  }
  if (isInNamespace && !resource.isNamespaced) return undefined;
  return { type: 'list', resource, namespace: namespace || undefined };
}

const indexes = new WeakMap<readonly ServedResource[], ReadonlyMap<string, ServedResource>>();

function findResource(resources: readonly ServedResource[], name: string): ServedResource | undefined {
  let index = indexes.get(resources);
  if (!index) {
    index = new Map(resources.map((resource) => [resource.name, resource]));
    indexes.set(resources, index);
  }
  return index.get(name);
}
