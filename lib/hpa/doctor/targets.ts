import { type Scale, ScaleClient } from '#lib/control/scale-client.ts';
import { checkTarget } from '#lib/control/target-check.ts';
import { type Check, examineEach, type Finding, findingsOr, note, ok, unchecked } from '#lib/doctor/check.ts';
import { type ClusterContext, requirePermission } from '#lib/doctor/cluster-context.ts';
import type { MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { type ScaledPod, scaledPod } from '#lib/kubernetes/objects/pod.ts';
import { pathSegment } from '#lib/kubernetes/path-segment.ts';
import { requestsOfPods } from '../decision/pod-resources.ts';
import { MetricFailure } from '../decision/replica-calculator.ts';
import { type ExaminedHpas, failed } from './examination.ts';

/** Checks that targets exist and can be scaled and measured; one finding per HPA, the first problem. */
export function targets(examined: ExaminedHpas): Check {
  return {
    name: 'hpa-targets',
    title: 'Targets and metrics of HorizontalPodAutoscalers',

    async run(context) {
      const hpas = await examined.all(context);
      const { client: api, mapper, clock } = context;
      const scales = new ScaleClient({ api, mapper, clock });
      const found = await examineEach(hpas, (hpa) => checkHpa(hpa, { context, scales }));
      return findingsOr('hpas', found, hpas);
    },
  };
}

async function checkHpa(
  hpa: Hpa,
  { context, scales }: { readonly context: ClusterContext; readonly scales: ScaleClient },
): Promise<Finding> {
  const { namespace, name } = hpa.metadata;
  const { apiVersion = '', kind, name: targetName } = hpa.spec.scaleTargetRef;
  const subject = `hpa ${namespace}/${name}`;
  const described = `${kind} ${JSON.stringify(targetName)}`;
  const names = { NAMESPACE: namespace, NAME: name, KIND: kind, TARGET: targetName };
  try {
    const target = { namespace, apiVersion, kind, name: targetName };
    const checked = await requirePermission(`get ${kind}/scale`, () =>
      checkTarget(target, scales, context.signal),
    );
    if (checked.problem !== undefined) {
      const diagnosis = checked.reason === 'NotFound' ? 'hpa-target-missing' : 'hpa-target-not-scalable';
      return failed(subject, checked.problem, { diagnosis, ...names });
    }
    const { scale } = checked;
    const missing = await missingRequest(hpa, scale, context);
    if (missing) {
      const more = { ...names, RESOURCE: missing.resource };
      const diagnosis = missing.isContainer ? 'hpa-container-missing' : 'hpa-request-missing';
      return failed(subject, missing.problem, { diagnosis, ...more });
    }
    const active = hpa.status?.conditions?.find(({ type }) => type === 'ScalingActive');
    if (active?.status === 'False') {
      const seen = `${active.reason ?? 'no reason'}: ${active.message ?? 'no message'}`;
      if (active.reason === 'ScalingDisabled') return note(subject, seen);
      const others = active.reason === 'AmbiguousSelector' ? othersIn(seen, `${namespace}/${name}`) : '';
      if (others !== '')
        return failed(subject, seen, { diagnosis: 'hpa-ambiguous-selector', ...names, OTHERS: others });
      return failed(subject, seen, { diagnosis: 'hpa-cannot-decide', ...names });
    }
    return ok(subject, `scales ${described}, spec.replicas ${scale.specReplicas}`);
  } catch (error) {
    context.signal.throwIfAborted();
    return unchecked(subject, error);
  }
}

/** The other HPAs of a condition AmbiguousSelector: its message ends with all of them in brackets. */
function othersIn(message: string, own: string): string {
  const [, named = ''] = /\[([^[\]]*)\]$/.exec(message) ?? [];
  const others = named.split(' ').filter((one) => one.includes('/') && one !== own);
  return others.join(', ');
}

/** Why utilization of a target cannot be computed. */
interface MissingRequest {
  readonly resource: string;
  /** As in the condition of the HPA. */
  readonly problem: string;
  /** Whether the container itself is missing. */
  readonly isContainer?: true;
}

/**
 * The first request that utilization needs and a pod of the target lacks. Reads pods rather than their template: a
 * LimitRange may have set defaults, and a webhook may have added containers.
 */
export async function missingRequest(
  { metadata: { namespace }, spec }: Hpa,
  { selector }: Scale,
  context: ClusterContext,
): Promise<MissingRequest | undefined> {
  const parts = (spec.metrics ?? []).flatMap((metric) => requestedPart(metric) ?? []);
  if (parts.length === 0 || selector === '') return undefined;
  const path = `/api/v1/namespaces/${pathSegment(namespace)}/pods`;
  const pods = await context.list('pods', { path, labelSelector: selector }, podOf);
  for (const part of parts) {
    const { resource, container } = part;
    const without = container === undefined ? undefined : pods.find((pod) => !hasContainer(pod, container));
    if (without)
      return {
        resource,
        problem: `container ${container} not found in Pod ${without.name}`,
        isContainer: true,
      };
    try {
      requestsOfPods(pods, { ...part, podLevelResources: true });
    } catch (error) {
      if (error instanceof MetricFailure) return { resource, problem: error.message };
      throw error;
    }
  }
  return undefined;
}

/** The resource and container whose request a utilization metric needs. */
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
  const sidecars = initContainers.filter(({ isSidecar }) => isSidecar);
  return [...containers, ...sidecars].some(({ name }) => name === container);
}

/** `undefined` for a malformed pod. */
function podOf(value: unknown): ScaledPod | undefined {
  try {
    return scaledPod(value);
  } catch {
    return undefined;
  }
}
