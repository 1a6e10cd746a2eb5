import type { Scale } from '#lib/control/scale-client.ts';
import type { ApiContext } from '#lib/doctor/cluster-context.ts';
import type { MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { FollowedHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { type ScaledPod, scaledPod } from '#lib/kubernetes/objects/pod.ts';
import { requestsOfPods } from '../decision/pod-resources.ts';
import { MetricFailure } from '../decision/replica-calculator.ts';

/** Why the utilization of a target can never be worked out. */
export interface MissingRequest {
  readonly resource: string;
  /** In the words of the HPA's own condition. */
  readonly problem: string;
}

/**
 * The first request that an HPA divides by and a pod of its target does not have. Pods are looked at rather than what they
 * are made from: a LimitRange may have filled in what that leaves out, and a webhook may have added a container.
 */
export async function missingRequest(
  { metadata: { namespace }, spec }: FollowedHpa,
  { selector }: Scale,
  context: ApiContext,
): Promise<MissingRequest | undefined> {
  const parts = (spec.metrics ?? []).flatMap((metric) => requestedPart(metric) ?? []);
  if (parts.length === 0 || selector === '') return undefined;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const pods = await context.list('pods', { path, labelSelector: selector }, podOf);
  for (const part of parts) {
    const { resource, container } = part;
    try {
      requestsOfPods(pods, { ...part, podLevelResources: true });
    } catch (error) {
      if (error instanceof MetricFailure) return { resource, problem: error.message };
      throw error;
    }
    const without = container === undefined ? undefined : pods.find((pod) => !hasContainer(pod, container));
    if (without) return { resource, problem: `no container ${container} in Pod ${without.name}` };
  }
  return undefined;
}

/** Of which resource, and of which container, a metric is a part of the request. */
function requestedPart(
  metric: MetricSpec,
): { readonly resource: string; readonly container: string | undefined } | undefined {
  if (metric.type === 'Resource' && metric.resource.target.averageUtilization !== undefined)
    return { resource: metric.resource.name, container: undefined };
  if (metric.type !== 'ContainerResource') return undefined;
  const { name: resource, container, target } = metric.containerResource;
  return target.averageUtilization === undefined ? undefined : { resource, container };
}

function hasContainer({ containers, initContainers }: ScaledPod, container: string): boolean {
  return [...containers, ...initContainers].some(({ name }) => name === container);
}

/** `undefined` for what is no pod that can be read. */
function podOf(value: unknown): ScaledPod | undefined {
  try {
    return scaledPod(value as Parameters<typeof scaledPod>[0]);
  } catch {
    return undefined;
  }
}
