import { memoize } from '#lib/cache/memoize.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { ContainerRequests, Requests, ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { divideUp, parseNanos, parseThousandths } from '#lib/kubernetes/quantity.ts';
import type { PodUsage, PodValue } from './decision-input.ts';
import { MetricFailure, type PodSample, type PodSamples, toInt64 } from './replica-calculator.ts';

/** The requests to sum. */
interface RequestedPart {
  readonly resource: string;
  /** `undefined` for the whole pod. */
  readonly container: string | undefined;
  /** Feature gate PodLevelResources. */
  readonly podLevelResources: boolean;
}

/**
 * The requests of each pod in thousandths: the base of utilization.
 *
 * @throws {MetricFailure} when a relevant container has no request, or a pod in any state has no container of the name
 */
export function requestsOfPods(pods: readonly ScaledPod[], part: RequestedPart): Map<string, bigint> {
  const requests = new Map<string, bigint>();
  for (const pod of pods) requests.set(pod.name, requestOf(pod, part));
  return requests;
}

function requestOf(pod: ScaledPod, { resource, container, podLevelResources }: RequestedPart): bigint {
  if (container === undefined && podLevelResources && hasPodRequests(pod)) return podRequest(pod, resource);
  const { containers, initContainers } = pod;
  if (container !== undefined) {
    const named =
      containers.find(({ name }) => name === container) ??
      initContainers.find(({ name, isSidecar }) => isSidecar && name === container);
    if (!named) throw new MetricFailure(`container ${container} not found in Pod ${pod.name}`);
    return containerRequest(pod, named, resource);
  }
  let sum = 0n;
  for (const one of containers) sum += containerRequest(pod, one, resource);
  for (const one of initContainers) if (one.isSidecar) sum += containerRequest(pod, one, resource);
  return toInt64(sum);
}

function containerRequest(pod: ScaledPod, { name, requests }: ContainerRequests, resource: string): bigint {
  const request = getOwn(requests, resource);
  if (request !== undefined) return parseRequest(request);
  throw new MetricFailure(`missing request for ${resource} in container ${name} of Pod ${pod.name}`);
}

/** Pods of a workload have equal requests, which every decision needs. */
const parseRequest = memoize(parseThousandths, { maxEntries: 1024, maxLength: 32 });

/** Resources with pod-level requests. */
const POD_LEVEL = /^(cpu|memory|hugepages-.*)$/;

function hasPodRequests({ podRequests }: ScaledPod): boolean {
  for (const resource in podRequests) if (POD_LEVEL.test(resource)) return true;
  return false;
}

/**
 * The request of a pod with pod-level requests, as the scheduler counts it: these, or for other resources the sum of its
 * containers, plus the overhead.
 */
function podRequest(pod: ScaledPod, resource: string): bigint {
  const own = POD_LEVEL.test(resource) ? nanos(pod.podRequests, resource) : undefined;
  const base = own ?? containersNeed(pod, resource);
  const overhead = nanos(pod.overhead, resource);
  if (base === undefined && overhead === undefined) {
    throw new MetricFailure(`missing pod-level request for ${resource} in Pod ${pod.name}`);
  }
  return divideUp((base ?? 0n) + (overhead ?? 0n), 1_000_000n);
}

/** Containers and sidecars, or the maximum during the init containers if that is more. */
function containersNeed({ containers, initContainers }: ScaledPod, resource: string): bigint | undefined {
  let running: bigint | undefined;
  for (const { requests } of containers) running = plus(running, nanos(requests, resource));
  let sidecars: bigint | undefined;
  let starting: bigint | undefined;
  for (const { requests, isSidecar } of initContainers) {
    const request = nanos(requests, resource);
    if (isSidecar) {
      running = plus(running, request);
      sidecars = plus(sidecars, request);
    }
    starting = larger(starting, isSidecar ? sidecars : plus(sidecars, request));
  }
  return larger(running, starting);
}

function nanos(requests: Requests, resource: string): bigint | undefined {
  const request = getOwn(requests, resource);
  return request === undefined ? undefined : parseNanos(request);
}

function plus(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one + other;
}

function larger(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one > other ? one : other;
}

/**
 * Usage of pods: the sum of their containers, each rounded up to thousandths.
 *
 * A pod without containers, or with one of unknown usage, has no sample: unknown is not zero.
 */
export function usageOfPods(usages: readonly PodUsage[], resource: string): PodSamples {
  const samples = new Map<string, PodSample>();
  for (const { pod, takenAtMs, windowMs, containers } of usages) {
    if (containers.length === 0) continue;
    let thousandths: bigint | undefined = 0n;
    for (const { usage } of containers) {
      const used = getOwn(usage, resource);
      thousandths = used === undefined ? undefined : toInt64(thousandths + parseThousandths(used));
      if (thousandths === undefined) break;
    }
    if (thousandths !== undefined) samples.set(pod, { thousandths, takenAtMs, windowMs });
  }
  return samples;
}

/** Usage of one container of each pod; pods without it have no sample. */
export function usageOfContainers(
  usages: readonly PodUsage[],
  { resource, container }: { readonly resource: string; readonly container: string },
): PodSamples {
  const samples = new Map<string, PodSample>();
  for (const { pod, takenAtMs, windowMs, containers } of usages) {
    const used = getOwn(containers.find(({ name }) => name === container)?.usage, resource);
    if (used !== undefined) samples.set(pod, { thousandths: parseThousandths(used), takenAtMs, windowMs });
  }
  return samples;
}

/** Custom metric values by pod; only CPU depends on the time of samples. */
export function valuesOfPods(values: readonly PodValue[], takenAtMs: number): PodSamples {
  const samples = new Map<string, PodSample>();
  for (const { pod, value } of values) {
    samples.set(pod, { thousandths: parseThousandths(value), takenAtMs, windowMs: 60_000 });
  }
  return samples;
}
