import type { ObjectName } from '../objects/kubernetes-object.ts';
import { pathSegment } from '../path-segment.ts';

/** A group and one of its versions; the core group is empty. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** A resource that the API server serves. */
export interface ApiResource extends GroupVersion {
  readonly kind: string;
  /** Lower case, as in paths. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Such as `status` and `scale`; `undefined` where they were not discovered. */
  readonly subresources?: readonly string[] | undefined;
}

/** Parses `apps/v1` or `v1`. */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  if (slash === -1) return { group: '', version: apiVersion };
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** Formats `apps/v1` or `v1`. */
export function formatApiVersion({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`;
}

export function groupVersionPath({ group, version }: GroupVersion): string {
  return group === '' ? `/api/${segment(version)}` : `/apis/${segment(group)}/${segment(version)}`;
}

/** Path of a resource's objects: all of them, or those of a namespace. */
export function collectionPath(resource: ApiResource, namespace?: string | undefined): string {
  const inNamespace = resource.namespaced && namespace ? `/namespaces/${segment(namespace)}` : '';
  return `${groupVersionPath(resource)}${inNamespace}/${segment(resource.plural)}`;
}

/**
 * Path of one object, or of a subresource of it.
 *
 * @throws when a namespaced object has no namespace, or a name is invalid in a path
 */
export function objectPath(resource: ApiResource, { namespace, name }: ObjectName, subresource = ''): string {
  if (resource.namespaced && !namespace) {
    throw new Error(`Cannot build path of ${resource.plural} "${name}": no namespace`);
  }
  const suffix = subresource === '' ? '' : `/${segment(subresource)}`;
  return `${collectionPath(resource, namespace)}/${segment(name)}${suffix}`;
}

/** A segment of a path; Kubernetes also refuses names with these characters, even if they are escaped. */
function segment(text: string): string {
  if (/[/%]/.test(text)) throw new Error(`Cannot build path: ${JSON.stringify(text)} is not a path segment`);
  return pathSegment(text);
}
