import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ListEndpoints } from '../servers/service-endpoints.ts';

interface SliceEndpoint {
  readonly addresses?: readonly string[];
  readonly conditions?: { readonly ready?: boolean };
  /** The pod that it is. */
  readonly targetRef?: { readonly uid?: string };
}

interface EndpointSlice extends KubernetesObject {
  readonly addressType?: string;
  readonly endpoints?: readonly SliceEndpoint[];
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
    return eachPodOnce(found ?? []).map(({ endpoints = [], ports }) => ({
      addresses: endpoints.flatMap(({ addresses = [] }) => addresses.slice(0, 1)),
      ports: (ports ?? []).flatMap(({ port }) => (port === undefined ? [] : [port])),
    }));
  };
}

/**
 * Slices with the endpoints that are ready, without those of IPv6 whose pod is ready by IPv4: a Service of both
 * families has a slice for each, and a pod that counted twice would double a sum. By IPv4, since what listens on
 * `0.0.0.0` is not reached by IPv6, while what listens on `::` mostly is by both.
 */
function eachPodOnce(slices: readonly EndpointSlice[]): readonly EndpointSlice[] {
  const ready = slices.map((slice) => ({
    ...slice,
    endpoints: (slice.endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false),
  }));
  const byIpv4 = new Set(
    ready.flatMap(({ addressType, endpoints }) =>
      addressType === 'IPv4' ? endpoints.flatMap(({ targetRef }) => targetRef?.uid ?? []) : [],
    ),
  );
  return ready.map((slice) => {
    if (slice.addressType !== 'IPv6') return slice;
    const isAlone = ({ targetRef }: SliceEndpoint) => !targetRef?.uid || !byIpv4.has(targetRef.uid);
    return { ...slice, endpoints: slice.endpoints.filter(isAlone) };
  });
}
