import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ListPods } from '../kubernetes-workload.ts';

const PODS: ApiResource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

interface ListedPod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string };
}

/** Lists pods that have neither succeeded nor failed. */
export function listPods(api: ApiClient): ListPods {
  const pods = new ResourceClient<ListedPod>({ api, resource: PODS });
  return async (namespace, labelSelector, signal) => {
    const fieldSelector = 'status.phase!=Succeeded,status.phase!=Failed';
    const found = await pods.list({ namespace, labelSelector, fieldSelector, signal });
    return found.map(({ spec }) => ({ nodeName: spec?.nodeName ?? '' }));
  };
}
