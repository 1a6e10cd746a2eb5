/** What a path of the API names. */
export type RequestTarget = ResourceTarget | { readonly isResource: false; readonly path: string };

/** A resource, one of its objects, or a part of an object. */
export interface ResourceTarget {
  readonly isResource: true;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/**
 * Reads a path as `RequestInfo` of k8s.io/apiserver does: `/api/VERSION/…` and `/apis/GROUP/VERSION/…`, with
 * `namespaces/NAME/` before resources of a namespace.
 */
export function requestTarget(path: string): RequestTarget {
  const segments = path.split('/').filter(Boolean).map(decode);
  const [prefix, ...rest] = segments;
  const group = prefix === 'api' ? '' : prefix === 'apis' ? rest.shift() : undefined;
  const version = rest.shift();
  if (group === undefined || version === undefined || rest.length === 0) return { isResource: false, path };
  const namespace = rest[0] === 'namespaces' && rest.length > 2 ? rest[1] : undefined;
  // A namespace's own subresources look like resources in it, but are not.
  const isNamespaceItself = namespace !== undefined && ['status', 'finalize'].includes(rest[2] ?? '');
  const named = namespace === undefined || isNamespaceItself ? rest : rest.slice(2);
  const [resource = '', name, subresource] = named;
  return {
    isResource: true,
    path,
    group,
    version,
    resource,
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined || isNamespaceItself ? {} : { namespace }),
  };
}

/** What is no valid encoding stands for itself. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The verb that authorization knows a request by. */
export function verbOf(method: string, target: RequestTarget, query: URLSearchParams): string {
  if (!target.isResource) return method.toLowerCase();
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return target.name === undefined ? 'deletecollection' : 'delete';
    default:
      if (target.name !== undefined) return 'get';
      return isTrue(query.get('watch')) ? 'watch' : 'list';
  }
}

/** What the API machinery takes for true in a query: anything but `false` and `0`. */
export function isTrue(text: string | null): boolean {
  return text !== null && !['false', '0'].includes(text.toLowerCase());
}
