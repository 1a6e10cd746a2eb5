import { getOwn } from '#lib/kubernetes/get-own.ts';
import { type HpaBehavior, MAX_REPLICAS } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { parseNanos } from '#lib/kubernetes/quantity.ts';
import type { HpaConfig } from './decision-input.ts';

interface PodMetricInput {
  readonly samples: PodSamples;
  readonly pods: readonly ScaledPod[];
  /** `undefined` for custom metrics. */
  readonly resource: string | undefined;
  readonly currentReplicas: number;
  readonly tolerances: Tolerances;
  readonly times: GroupingTimes;
}

/**
 * Proposes replicas by a per-pod metric.
 *
 * Ready pods are measured first. If other pods have no samples, or are unready while load rises, conservative values are
 * assumed for them, and the metric scales only if the result has the same direction.
 *
 * @param measureOf called once there are values to measure
 * @throws {MetricFailure}
 */
export function proposeByPods(input: PodMetricInput, measureOf: () => PodMeasure): Proposal {
  const { samples, pods, resource, currentReplicas, tolerances, times } = input;
  if (pods.length === 0) throw noPods();
  const groups = groupPods(pods, samples, { resource, times });
  const values = valuesThatCount(samples, groups);
  if (values.size === 0) {
    throw new MetricFailure('did not receive metrics for targeted pods (pods might be unready)');
  }
  const measure = measureOf();
  const { average, ratio, utilization } = measure.measure(values);
  const considered = consideredPods(groups, values.size);
  const propose = (replicas: number, why: ProposalReason, assumedRatio?: number): Proposal => ({
    replicas,
    current: average,
    ratio,
    tolerances,
    why,
    ...(utilization === undefined ? {} : { utilization }),
    pods: assumedRatio === undefined ? considered : { ...considered, assumedRatio },
  });

  const countsUnready = groups.unready.length > 0 && ratio > 1;
  if (!countsUnready && groups.missing.length === 0) {
    if (isWithin(ratio, tolerances)) return propose(currentReplicas, 'within-tolerance');
    return propose(wholeReplicas(ratio * groups.readyCount), 'off-target');
  }
  for (const pod of groups.missing) {
    const assumed = measure.assumedOfMissing(pod, ratio);
    if (assumed !== undefined) values.set(pod, assumed);
  }
  if (countsUnready) for (const pod of groups.unready) values.set(pod, 0n);
  const assumedRatio = measure.measure(values).ratio;
  if (isWithin(assumedRatio, tolerances)) return propose(currentReplicas, 'within-tolerance', assumedRatio);
  if ((ratio < 1 && assumedRatio > 1) || (ratio > 1 && assumedRatio < 1)) {
    return propose(currentReplicas, 'direction-uncertain', assumedRatio);
  }
  const replicas = wholeReplicas(assumedRatio * values.size);
  if ((assumedRatio < 1 && replicas > currentReplicas) || (assumedRatio > 1 && replicas < currentReplicas)) {
    return propose(currentReplicas, 'count-uncertain', assumedRatio);
  }
  return propose(replicas, 'off-target', assumedRatio);
}

function noPods(): MetricFailure {
  return new MetricFailure('no pods returned by selector while calculating replica count');
}

/** The values of ready pods, and as in Kubernetes' controller those of unknown pods. */
function valuesThatCount(samples: PodSamples, { unready, ignored }: PodGroups): Map<string, bigint> {
  const values = new Map<string, bigint>();
  for (const [pod, { thousandths }] of samples) values.set(pod, thousandths);
  for (const pod of unready) values.delete(pod);
  for (const pod of ignored) values.delete(pod);
  return values;
}

function consideredPods(
  { readyCount, unready, missing, ignored }: PodGroups,
  valueCount: number,
): PodsConsidered {
  return {
    counted: readyCount,
    unknown: valueCount - readyCount,
    unready: leftOut(unready),
    missing: leftOut(missing),
    ignored: leftOut(ignored),
  };
}

/** Inputs of Object and External metrics; amounts in thousandths. */
interface TotalMetricInput {
  readonly total: bigint;
  readonly target: bigint;
  readonly tolerances: Tolerances;
}

/**
 * Proposes replicas for a value with a fixed target: ready pods times value over target.
 *
 * From zero replicas it proposes the ratio itself. A number beyond the range is the maximum, as in Kubernetes since 1.36.
 *
 * @param specReplicas `spec.replicas` of the scale
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
 * Proposes replicas for a value that replicas share: value over target.
 *
 * @param statusReplicas current replicas; with 0 there is no average, and the status has no value
 * @param isCapped whether a number beyond the range is the maximum, as for external metrics
 * @throws {MetricFailure}
 */
export function proposeByAverage(
  { total, target, tolerances }: TotalMetricInput,
  { statusReplicas, isCapped }: { readonly statusReplicas: number; readonly isCapped: boolean },
): Proposal {
  const ratio = Number(total) / (Number(target) * statusReplicas);
  const common = { current: meanRoundedUp(total, statusReplicas), ratio, tolerances };
  if (isWithin(ratio, tolerances)) return { ...common, replicas: statusReplicas, why: 'within-tolerance' };
  const desired = Number(total) / Number(target);
  const replicas = isCapped ? cappedReplicas(desired) : wholeReplicas(desired);
  return { ...common, replicas, why: 'off-target' };
}

/** Caps replicas at the maximum of an int32. */
function cappedReplicas(replicas: number): number {
  return replicas > MAX_REPLICAS ? MAX_REPLICAS : wholeReplicas(replicas);
}

/**
 * Kubernetes divides floating-point numbers here, so the last digits beyond 2^53 follow from that. The largest integer
 * stands for an overflowed sum, which has no average, and stays unchanged.
 */
function meanRoundedUp(total: bigint, replicas: number): bigint | undefined {
  if (Number(total) >= Number(MAX_INT64)) return MAX_INT64;
  const mean = Math.ceil(Number(total) / replicas);
  if (!Number.isFinite(mean)) return undefined;
  const thousandths = BigInt(mean);
  return toInt64(thousandths) === thousandths ? thousandths : undefined;
}

/** Counts running, ready pods, including those being deleted. */
function countReady(pods: readonly ScaledPod[]): number {
  let count = 0;
  for (const { phase, ready } of pods) if (phase === 'Running' && ready?.status === 'True') count++;
  return count;
}

/** The replicas that one metric proposes, and how they were computed. */
export interface Proposal {
  readonly replicas: number;
  /** The value in the status, in thousandths; `undefined` when there is none. */
  readonly current: bigint | undefined;
  /** Percent of the request. */
  readonly utilization?: number;
  /** Measured value over target, without assumed values. */
  readonly ratio: number;
  readonly tolerances: Tolerances;
  readonly why: ProposalReason;
  /** Absent for metrics that are not per pod. */
  readonly pods?: PodsConsidered;
  /** Ready pods that the ratio was multiplied by, for Object and External metrics. */
  readonly readyPods?: number;
}

/** Why a proposal is what it is. */
export type ProposalReason =
  /** The ratio is outside the tolerances. */
  | 'off-target'
  /** The ratio, measured or with assumed values, is within the tolerances. */
  | 'within-tolerance'
  /** With assumed values the metric would scale in the other direction. */
  | 'direction-uncertain'
  /** The number of counted pods would scale in the other direction. */
  | 'count-uncertain';

/** The pods that a metric counted and left out, with assumed values. */
interface PodsConsidered {
  readonly counted: number;
  /** Samples of unknown pods, such as deleted ones. */
  readonly unknown: number;
  readonly unready: LeftOutPods;
  readonly missing: LeftOutPods;
  readonly ignored: LeftOutPods;
  /** Value over target with assumed values; absent when none were needed. */
  readonly assumedRatio?: number;
}

/** Pods that were left out for one reason; only the first are named. */
export interface LeftOutPods {
  readonly count: number;
  readonly names: readonly string[];
}

/** Maximum of named pods for each reason. */
const MAX_NAMED_PODS = 20;

function leftOut(names: readonly string[]): LeftOutPods {
  return { count: names.length, names: names.slice(0, MAX_NAMED_PODS) };
}

/**
 * Rounds replicas up.
 *
 * @throws {MetricFailure} a refusal, when the number exceeds an int32
 */
function wholeReplicas(replicas: number): number {
  const whole = ceilReplicas(replicas);
  if (whole !== undefined) return whole;
  throw new MetricFailure(`the metric proposes ${replicas} replicas, more than the maximum ${MAX_REPLICAS}`, {
    isRefusal: true,
  });
}

/** Pods by the use of their samples; a pod is in at most one list. */
interface PodGroups {
  /** Number of pods whose sample counts. */
  readonly readyCount: number;
  /** Pending, or too young or unready for their CPU to be meaningful. */
  readonly unready: readonly string[];
  /** Running without a sample. */
  readonly missing: readonly string[];
  /** Deleting or failed: neither the pods nor their samples count. */
  readonly ignored: readonly string[];
}

export interface GroupingTimes
  extends Pick<HpaConfig, 'cpuInitializationPeriodMs' | 'initialReadinessDelayMs'> {
  readonly nowMs: number;
}

/**
 * Groups the pods of a workload for one metric.
 *
 * @param resource readiness matters for `cpu` only: startup uses CPU that serving does not
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

/** Whether the CPU of a pod does not reflect its load yet. */
function isUnready(
  { startedAtMs, ready }: ScaledPod,
  { takenAtMs, windowMs }: PodSample,
  { nowMs, cpuInitializationPeriodMs, initialReadinessDelayMs }: GroupingTimes,
): boolean {
  if (!ready || startedAtMs === undefined) return true;
  const isFalse = ready.status === 'False';
  // While it may still initialize, a whole window must have passed since its readiness changed.
  if (startedAtMs + cpuInitializationPeriodMs > nowMs)
    return isFalse || takenAtMs < ready.changedAtMs + windowMs;
  // Later only a pod that was never ready: its condition last changed shortly after the start.
  return isFalse && startedAtMs + initialReadinessDelayMs > ready.changedAtMs;
}

/** The usage of pods relative to their target. */
interface Measurement {
  /** Value over target. */
  readonly ratio: number;
  /** Average of the counted pods, in thousandths. */
  readonly average: bigint;
  /** Percent of the request; only for utilization targets. */
  readonly utilization?: number;
}

/** Compares pods with a target. */
interface PodMeasure {
  /** @throws {MetricFailure} when nothing can be measured */
  measure(values: ReadonlyMap<string, bigint>): Measurement;

  /**
   * The usage assumed for a pod without a sample, in thousandths.
   *
   * @param ratio of the pods with samples
   * @returns `undefined` to leave the pod out
   */
  assumedOfMissing(pod: string, ratio: number): bigint | undefined;
}

/**
 * Compares the average of the values, in thousandths rounded towards zero, with a target.
 *
 * @param target thousandths
 */
export function averageMeasure(target: bigint): PodMeasure {
  return {
    measure(values) {
      let sum = 0n;
      for (const value of values.values()) sum += value;
      const average = toInt64(sum) / BigInt(values.size);
      return { ratio: Number(average) / Number(target), average };
    },

    /** The target when scaling down, 0 when scaling up; left out at exactly the target. */
    assumedOfMissing(_pod, ratio) {
      if (ratio === 1) return undefined;
      return ratio < 1 ? target : 0n;
    },
  };
}

/**
 * Compares usage with requests, in whole percent rounded down.
 *
 * Values without a request belong to unknown pods and are left out.
 *
 * @param requests thousandths by pod
 * @param target percent
 */
export function utilizationMeasure(requests: ReadonlyMap<string, bigint>, target: number): PodMeasure {
  return {
    measure(values) {
      let used = 0n;
      let requested = 0n;
      let pods = 0;
      for (const [pod, value] of values) {
        const request = requests.get(pod);
        if (request === undefined) continue;
        used += value;
        requested += request;
        pods++;
      }
      [used, requested] = [toInt64(used), toInt64(requested)];
      if (requested === 0n) throw new MetricFailure('no metrics returned matched known pods');
      const utilization = toInt32(toInt64(used * 100n) / requested);
      return { ratio: utilization / target, average: used / BigInt(pods), utilization };
    },

    /** Like an average; when scaling down the larger of its request and its target usage. */
    assumedOfMissing(pod, ratio) {
      if (ratio > 1) return 0n;
      if (ratio === 1) return undefined;
      const percent = BigInt(Math.max(100, target));
      return toInt64((requests.get(pod) ?? 0n) * percent) / 100n;
    },
  };
}

/** Relative deviations below and above the target that do not scale. */
export interface Tolerances {
  readonly scaleDown: number;
  readonly scaleUp: number;
}

/** The tolerances of an HPA: its own if set and the feature gate is on, else those of the controller. */
export function tolerancesOf(behavior: HpaBehavior | undefined, config: HpaConfig): Tolerances {
  const { tolerance, configurableTolerance } = config;
  if (!configurableTolerance || !behavior) return { scaleDown: tolerance, scaleUp: tolerance };
  return {
    scaleDown: toNumber(behavior.scaleDown?.tolerance) ?? tolerance,
    scaleUp: toNumber(behavior.scaleUp?.tolerance) ?? tolerance,
  };
}

/** Whether a ratio of value to target is close enough to 1; false for NaN. */
export function isWithin(ratio: number, { scaleDown, scaleUp }: Tolerances): boolean {
  return 1 - scaleDown <= ratio && ratio <= 1 + scaleUp;
}

/** Kubernetes multiplies digits by a power of ten, which may differ in the last bit from the nearest number. */
function toNumber(quantity: string | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const digits = /^(\d{1,15})([num]?)$/.exec(quantity);
  if (!digits) return Number(parseNanos(quantity)) / 1e9;
  return Number(digits[1]) * (getOwn(POWERS, digits[2] ?? '') ?? 1);
}

const POWERS: Readonly<Record<string, number>> = { m: 1e-3, u: 1e-6, n: 1e-9 };

/** Why a metric proposes no replicas, with the message of Kubernetes' controller where it has one. */
export class MetricFailure extends Error {
  /** Whether Kubernetes would continue with a number that depends on the processor. */
  readonly isRefusal: boolean;

  constructor(message: string, { isRefusal = false }: { readonly isRefusal?: boolean } = {}) {
    super(message);
    this.name = 'MetricFailure';
    this.isRefusal = isRefusal;
  }
}

/** The selector of a metric is invalid: nothing is read or compared. */
export class SelectorFailure extends MetricFailure {}

/** The largest integer of 64 bits. */
export const MAX_INT64 = 2n ** 63n - 1n;

/** The low 64 bits, as Go's `int64` arithmetic on overflow. */
export function toInt64(amount: bigint): bigint {
  return BigInt.asIntN(64, amount);
}

/** The low 32 bits, as Go's `int32(x)`. */
export function toInt32(amount: bigint): number {
  return Number(BigInt.asIntN(32, amount));
}

/**
 * Rounds replicas up.
 *
 * @returns `undefined` for NaN and beyond 32 bits, where the result in Go depends on the processor
 */
export function ceilReplicas(replicas: number): number | undefined {
  const whole = Math.ceil(replicas);
  return whole >= -MAX_REPLICAS - 1 && whole <= MAX_REPLICAS ? whole + 0 : undefined;
}

/** Values of one metric by pod, in thousandths, with time and window. */
export type PodSamples = ReadonlyMap<string, PodSample>;

export interface PodSample {
  readonly thousandths: bigint;
  readonly takenAtMs: number;
  readonly windowMs: number;
}
