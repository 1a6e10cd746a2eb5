import type { ApiGroup, ServedResource } from '#lib/apiserver/api-group.ts';
import type { Document } from '#lib/apiserver/encoding/document.ts';
import { documentOf } from '#lib/apiserver/objects/message-type.ts';
import { API_GROUP, API_GROUP_LIST, API_RESOURCE_LIST } from './discovery-types.ts';

/**
 * The response to `/apis`: every group, and where it is served. Kubernetes leaves out its version, here alone.
 *
 * @param serverAddress host and port; the host may be empty
 */
export function apiGroupList(groups: readonly ApiGroup[], serverAddress: string): Document {
  const discovered = groups.map((group) => ({ group, serverAddress }));
  return documentOf(discovered, API_GROUP_LIST, { kind: 'APIGroupList', apiVersion: '' });
}

/** The response to `/apis/GROUP`: its versions. */
export function apiGroup(group: ApiGroup): Document {
  return documentOf({ group }, API_GROUP, { kind: 'APIGroup', apiVersion: 'v1' });
}

/** The response to `/apis/GROUP/VERSION`: its resources. */
export function apiResourceList(groupVersion: string, resources: readonly ServedResource[]): Document {
  const type = { kind: 'APIResourceList', apiVersion: 'v1' };
  return documentOf({ groupVersion, resources }, API_RESOURCE_LIST, type);
}
