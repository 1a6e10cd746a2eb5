import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import type { HpaConfig } from '../decision/decision-input.ts';
import type { PodSample, PodSamples } from './pod-usage.ts';

/** Pods by what their samples are good for; a pod is in one list, or counts as ready. */
export interface PodGroups {
  /** How many pods have a sample that counts. */
  readonly readyCount: number;
  /** Pending, or too young or unready for their CPU to say anything. */
  readonly unready: readonly string[];
  /** Running without a sample. */
  readonly missing: readonly string[];
  /** Deleting or failed: neither they nor their samples count. */
  readonly ignored: readonly string[];
}

/** What grouping asks about the time. */
export interface GroupingTimes
  extends Pick<HpaConfig, 'cpuInitializationPeriodMs' | 'initialReadinessDelayMs'> {
  readonly nowMs: number;
}

/**
 * Groups the pods of a workload for one metric.
 *
 * @param resource only for `cpu` does readiness matter: starting takes CPU that serving does not
 */
export function groupPods(
  pods: readonly ScaledPod[],
  samples: PodSamples,
  { resource, times }: { readonly resource: string | undefined; readonly times: GroupingTimes },
): PodGroups {
  const groups = { unready: [] as string[], missing: [] as string[], ignored: [] as string[] };
  let readyCount = 0;
  for (const pod of pods) {
    const sample = samples.get(pod.name);
    if (pod.isDeleting || pod.phase === 'Failed') groups.ignored.push(pod.name);
    else if (pod.phase === 'Pending') groups.unready.push(pod.name);
    else if (!sample) groups.missing.push(pod.name);
    else if (resource === 'cpu' && isUnready(pod, sample, times)) groups.unready.push(pod.name);
    else readyCount++;
  }
  return { readyCount, ...groups };
}

/** Whether the CPU of a pod says nothing yet about the load that it carries. */
function isUnready(
  { startedAtMs, ready }: ScaledPod,
  { takenAtMs, windowMs }: PodSample,
  { nowMs, cpuInitializationPeriodMs, initialReadinessDelayMs }: GroupingTimes,
): boolean {
  if (!ready || startedAtMs === undefined) return true;
  const isFalse = ready.status === 'False';
  // While it may still initialize, a whole window must have passed since it became ready or unready.
  if (startedAtMs + cpuInitializationPeriodMs > nowMs)
    return isFalse || takenAtMs < ready.changedAtMs + windowMs;
  // Later, only one that has never been ready: its condition last changed shortly after it started.
  return isFalse && startedAtMs + initialReadinessDelayMs > ready.changedAtMs;
}
