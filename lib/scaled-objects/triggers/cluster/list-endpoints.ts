import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/kubernetes-object.ts';
import type { ListEndpoints } from '../servers/service-endpoints.ts';

interface EndpointSlice extends KubernetesObject {
  readonly endpoints?: readonly {
    readonly addresses?: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
  }[];
  readonly ports?: readonly { readonly port?: number }[] | null;
}

const SLICES: Omit<ApiResource, 'version'> = {
  group: 'discovery.k8s.io',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
};

/** Lists where a Service is ready: by EndpointSlices, which Kubernetes before 1.21 has in an earlier version alone. */
export function listEndpoints(api: ApiClient): ListEndpoints {
  const versions = ['v1', 'v1beta1'].map(
    (version) => new ResourceClient<EndpointSlice>({ api, resource: { ...SLICES, version } }),
  );
  return async ({ namespace, service }, signal) => {
    const labelSelector = `kubernetes.io/service-name=${service}`;
    const [newer, earlier] = versions;
    const found = await newer?.list({ namespace, labelSelector, signal }).catch((error: unknown) => {
      if (isNotFound(error)) return earlier?.list({ namespace, labelSelector, signal });
      throw error;
    });
    return (found ?? []).map(({ endpoints = [], ports }) => ({
      addresses: endpoints.flatMap(({ addresses = [], conditions }) =>
        conditions?.ready === false ? [] : addresses.slice(0, 1),
      ),
      ports: (ports ?? []).flatMap(({ port }) => (port === undefined ? [] : [port])),
    }));
  };
}
