import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { MAX_INT64, MOST_REPLICAS, toInt64 } from '../quantities/go-integers.ts';
import { MetricFailure } from './metric-failure.ts';
import { type Proposal, wholeReplicas } from './proposal.ts';
import { noPods } from './proposal-by-pods.ts';
import { isWithin, type Tolerances } from './tolerance.ts';

/** What a metric of an object, or an external one, is decided from; amounts are thousandths. */
export interface TotalMetricInput {
  readonly total: bigint;
  readonly target: bigint;
  readonly tolerances: Tolerances;
}

/**
 * Proposes replicas by a value that is to stay at its target: ready pods times value over target.
 *
 * From zero replicas it proposes the ratio itself. More replicas than can be counted are as many as can be, as in
 * Kubernetes since 1.36.
 *
 * @param specReplicas what the scale asks for
 * @throws {MetricFailure}
 */
export function proposeByValue(
  { total, target, tolerances }: TotalMetricInput,
  { specReplicas, pods }: { readonly specReplicas: number; readonly pods: readonly ScaledPod[] },
): Proposal {
  const ratio = Number(total) / Number(target);
  const common = { current: total, ratio, tolerances };
  if (specReplicas === 0) return { ...common, replicas: wholeReplicas(ratio), why: 'off-target' };
  if (isWithin(ratio, tolerances)) return { ...common, replicas: specReplicas, why: 'within-tolerance' };
  if (pods.length === 0) throw new MetricFailure(`unable to calculate ready pods: ${noPods().message}`);
  const readyPods = countReady(pods);
  return { ...common, replicas: cappedReplicas(ratio * readyPods), why: 'off-target', readyPods };
}

/**
 * Proposes replicas by a value that they share: value over target.
 *
 * @param statusReplicas how many replicas there are; over none of them there is no mean, so the status shows no value
 * @param isCapped whether the most that can be asked for is proposed in place of more, as for external metrics
 * @throws {MetricFailure}
 */
export function proposeByAverage(
  { total, target, tolerances }: TotalMetricInput,
  { statusReplicas, isCapped }: { readonly statusReplicas: number; readonly isCapped: boolean },
): Proposal {
  const ratio = Number(total) / (Number(target) * statusReplicas);
  const common = { current: meanRoundedUp(total, statusReplicas), ratio, tolerances };
  if (isWithin(ratio, tolerances)) return { ...common, replicas: statusReplicas, why: 'within-tolerance' };
  const wanted = Number(total) / Number(target);
  const replicas = isCapped ? cappedReplicas(wanted) : wholeReplicas(wanted);
  return { ...common, replicas, why: 'off-target' };
}

/** More replicas than can be counted are as many as can be. */
function cappedReplicas(replicas: number): number {
  return replicas > MOST_REPLICAS ? MOST_REPLICAS : wholeReplicas(replicas);
}

/**
 * Kubernetes divides floating-point numbers here, so beyond 2^53 the last digits are theirs. The largest integer, at which
 * sums end, stays what it is, for nobody knows the mean then.
 */
function meanRoundedUp(total: bigint, replicas: number): bigint | undefined {
  if (Number(total) >= Number(MAX_INT64)) return MAX_INT64;
  const mean = Math.ceil(Number(total) / replicas);
  if (!Number.isFinite(mean)) return undefined;
  const thousandths = BigInt(mean);
  return toInt64(thousandths) === thousandths ? thousandths : undefined;
}

/** Pods that run and are ready; those that are being deleted are among them. */
function countReady(pods: readonly ScaledPod[]): number {
  let count = 0;
  for (const { phase, ready } of pods) if (phase === 'Running' && ready?.status === 'True') count++;
  return count;
}
