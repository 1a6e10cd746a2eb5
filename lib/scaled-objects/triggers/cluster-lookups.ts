import * as z from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { type KubernetesObject, readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';

const PODS: ApiResource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

interface ListedPod extends KubernetesObject {
  /** Empty while the pod is not scheduled. */
  readonly nodeName: string;
}

const POD = z.object({ spec: z.object({ nodeName: z.string().nullish() }) });

/** Retains only the node of a pod: tenants choose the size of other fields. @throws for an object that is not a pod */
function readListedPod(value: unknown): ListedPod {
  const { metadata } = readObject(value);
  const { spec } = readAs(POD, 'a pod', value);
  return { metadata: { name: metadata.name }, nodeName: spec.nodeName ?? '' };
}

/** Lists pods that have neither succeeded nor failed. */
export function listPods(api: ApiClient): ListPods {
  const pods = new ResourceClient<ListedPod>({ api, resource: PODS, read: readListedPod });
  return async (namespace, labelSelector, signal) => {
    const fieldSelector = 'status.phase!=Succeeded,status.phase!=Failed';
    return await pods.list({ namespace, labelSelector, fieldSelector, signal });
  };
}

const ENDPOINT = z.object({
  addresses: z.array(z.string()).nullish(),
  conditions: z.object({ ready: z.boolean().nullish() }).nullish(),
  /** The pod of the endpoint. */
  targetRef: z.object({ uid: z.string().optional() }).nullish(),
});
const SLICE = z.object({
  addressType: z.string().optional(),
  endpoints: z.array(ENDPOINT).nullish(),
  ports: z.array(z.object({ port: z.int().nullish() })).nullish(),
});

type EndpointSlice = KubernetesObject & z.output<typeof SLICE>;

/** @throws an Error with the name of the field that has the wrong type */
function readSlice(value: unknown): EndpointSlice {
  const { metadata } = readObject(value);
  return { metadata, ...readAs(SLICE, 'an EndpointSlice', value) };
}

const SLICES: Omit<ApiResource, 'version'> = {
  group: 'discovery.k8s.io',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
};

/** Lists ready endpoints by EndpointSlices of v1, or v1beta1 before Kubernetes 1.21. */
export function listEndpoints(api: ApiClient): ListEndpoints {
  const versions = ['v1', 'v1beta1'].map(
    (version) => new ResourceClient({ api, resource: { ...SLICES, version }, read: readSlice }),
  );
  return async ({ namespace, service }, signal) => {
    const labelSelector = `kubernetes.io/service-name=${service}`;
    const [newer, earlier] = versions;
    const found = await newer?.list({ namespace, labelSelector, signal }).catch((error: unknown) => {
      if (isNotFound(error)) return earlier?.list({ namespace, labelSelector, signal });
      throw error;
    });
    return eachPodOnce(found ?? []).map(({ endpoints, ports }) => ({
      addresses: (endpoints ?? []).flatMap(({ addresses }) => addresses?.slice(0, 1) ?? []),
      ports: (ports ?? []).flatMap(({ port }) => port ?? []),
    }));
  };
}

/**
 * Ready endpoints, without IPv6 endpoints of pods that have an IPv4 one: a dual-stack Service has a slice for each family,
 * and a sum must not count a pod twice. IPv4 is preferred, because a server on `0.0.0.0` is not reachable by IPv6, while one on
 * `::` mostly is by both.
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
    const isAlone = ({ targetRef }: z.output<typeof ENDPOINT>) =>
      !targetRef?.uid || !byIpv4.has(targetRef.uid);
    return { ...slice, endpoints: slice.endpoints.filter(isAlone) };
  });
}

/** A Service in the cluster. */
export interface ServiceName {
  readonly namespace: string;
  readonly service: string;
}

/** Ready endpoints of a Service with the same ports. */
export interface ServiceEndpoints {
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
}

export type ListEndpoints = (
  service: ServiceName,
  signal: AbortSignal,
) => Promise<readonly ServiceEndpoints[]>;

/** Aggregations of the values of several endpoints. */
export const AGGREGATIONS = ['average', 'sum', 'max', 'min'] as const;

/** A missing value would make these too low and scale down. */
const NEEDS_ALL: readonly (typeof AGGREGATIONS)[number][] = ['sum', 'max'];

const AT_ONCE = 5;

interface EndpointQueryOptions {
  readonly aggregation: (typeof AGGREGATIONS)[number];
  readonly query: (url: URL, signal: AbortSignal) => Promise<number>;
  /** Called with a message if some endpoints failed. */
  readonly onPartial: (text: string) => void;
  /** When it aborts, endpoints without a response count as failed, and no more are queried. */
  readonly deadline: AbortSignal;
}

/**
 * Queries endpoints, five at a time. Averages and minimums ignore those that fail.
 *
 * @param urls at least one
 * @throws the first error if all fail; for a sum or a maximum, if any fails
 */
export async function queryEndpoints(
  urls: readonly URL[],
  { aggregation, query, onPartial, deadline }: EndpointQueryOptions,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const values: number[] = [];
  const failures: unknown[] = [];
  const waiting = urls.values();
  const work = async () => {
    for (const url of waiting) {
      try {
        deadline.throwIfAborted();
        values.push(await raceAbort(query(url, deadline), deadline));
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (values.length === 0) throw failures[0];
  if (failures.length === 0) return values;
  const missing = `${failures.length} of ${urls.length} endpoints have no value`;
  if (NEEDS_ALL.includes(aggregation))
    throw new Error(`${missing}, and ${aggregation} requires the values of all endpoints`, {
      cause: failures[0],
    });
  onPartial(missing);
  return values;
}

/** Lists pods by labels, without those that have succeeded or failed. */
export type ListPods = (
  namespace: string,
  labelSelector: string,
  signal: AbortSignal,
) => Promise<readonly Pick<ListedPod, 'nodeName'>[]>;
