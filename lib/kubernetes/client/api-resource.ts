import type { ObjectName } from '../objects/kubernetes-object.ts';

/** A group and one of its versions; the core group is empty. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** A kind of objects that the API server serves, and where. */
export interface ApiResource extends GroupVersion {
  readonly kind: string;
  /** Lower case, as in paths. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** As in `status` and `scale`; `undefined` where nobody looked. */
  readonly subresources?: readonly string[] | undefined;
}

/** Reads `apps/v1` or `v1`. */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  if (slash === -1) return { group: '', version: apiVersion };
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** Writes `apps/v1` or `v1`. */
export function formatApiVersion({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Where a version of a group is served. */
export function groupVersionPath({ group, version }: GroupVersion): string {
  return group === '' ? `/api/${segment(version)}` : `/apis/${segment(group)}/${segment(version)}`;
}

/** Where a resource's objects are served: all of them, or those of a namespace. */
export function collectionPath(resource: ApiResource, namespace?: string | undefined): string {
  const inNamespace = resource.namespaced && namespace ? `/namespaces/${segment(namespace)}` : '';
  return `${groupVersionPath(resource)}${inNamespace}/${segment(resource.plural)}`;
}

/**
 * Where one object is served, or a subresource of it.
 *
 * @throws when a namespaced object comes without its namespace, or a name is none that a path may hold
 */
export function objectPath(resource: ApiResource, { namespace, name }: ObjectName, subresource = ''): string {
  if (resource.namespaced && !namespace) {
    throw new Error(`Cannot address ${resource.plural} "${name}": it needs a namespace`);
  }
  const suffix = subresource === '' ? '' : `/${segment(subresource)}`;
  return `${collectionPath(resource, namespace)}/${segment(name)}${suffix}`;
}

/** A part of a path, as Kubernetes lets one be. */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..' || text.includes('/') || text.includes('%')) {
    throw new Error(`Cannot address ${JSON.stringify(text)}: it is no name in a path`);
  }
  return encodeURIComponent(text);
}
