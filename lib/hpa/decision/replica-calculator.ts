import { getOwn } from '#lib/kubernetes/get-own.ts';
import { type HpaBehavior, MOST_REPLICAS } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { parseNanos } from '#lib/kubernetes/quantity.ts';
import type { HpaConfig } from './decision-input.ts';

/** What a metric that is counted pod by pod is decided from. */
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
 * Proposes replicas by a metric that pods have.
 *
 * Pods that are ready are measured first. If others miss their samples, or are not ready while load rises, values are
 * assumed of them that count against scaling, and the metric scales only if it still would, the same way.
 *
 * @param measureOf called when it is known that there is something to measure
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

/** The failure of a selector that selects nothing. */
function noPods(): MetricFailure {
  return new MetricFailure('no pods returned by selector while calculating replica count');
}

/** The values of pods that are ready; those of pods that nobody knows are among them, as in Kubernetes' controller. */
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

/** What a metric of an object, or an external one, is decided from; amounts are thousandths. */
interface TotalMetricInput {
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

/** How many replicas one metric asks for, and how that came about. */
export interface Proposal {
  readonly replicas: number;
  /** What the status shows, in thousandths; `undefined` where there is no such number. */
  readonly current: bigint | undefined;
  /** Percent of what is requested. */
  readonly utilization?: number;
  /** Value over target, of what was measured alone. */
  readonly ratio: number;
  readonly tolerances: Tolerances;
  readonly why: ProposalReason;
  /** Absent for metrics that are not counted pod by pod. */
  readonly pods?: PodsConsidered;
  /** How many ready pods the ratio was multiplied by, for metrics of objects and external ones. */
  readonly readyPods?: number;
}

/** What a proposal follows from. */
export type ProposalReason =
  /** The ratio is outside of the tolerances. */
  | 'off-target'
  /** The ratio, or that with assumed values, is within the tolerances. */
  | 'within-tolerance'
  /** With assumed values for missing and unready pods the metric would scale the other way. */
  | 'direction-uncertain'
  /** As many pods as count would mean scaling the other way. */
  | 'count-uncertain';

/** Which pods a metric counted, which not, and what was assumed of these. */
interface PodsConsidered {
  readonly counted: number;
  /** Samples of pods that are not, or no longer, known. */
  readonly unknown: number;
  readonly unready: LeftOutPods;
  readonly missing: LeftOutPods;
  readonly ignored: LeftOutPods;
  /** Value over target with what was assumed; absent where nothing had to be. */
  readonly assumedRatio?: number;
}

/** Pods that were left out for one reason; of many only the first are named. */
export interface LeftOutPods {
  readonly count: number;
  readonly names: readonly string[];
}

/** So many pods are named at most for each reason. */
const NAMED_PODS = 20;

/** Names the first of the pods that were left out. */
function leftOut(names: readonly string[]): LeftOutPods {
  return { count: names.length, names: names.slice(0, NAMED_PODS) };
}

/**
 * Rounds a number of replicas up, and refuses those that no replica count holds.
 *
 * @throws {MetricFailure} a refusal
 */
function wholeReplicas(replicas: number): number {
  const whole = ceilReplicas(replicas);
  if (whole !== undefined) return whole;
  throw new MetricFailure(
    `the metric asks for ${replicas} replicas, and a replica count ends at ${MOST_REPLICAS}`,
    { isRefusal: true },
  );
}

/** Pods by what their samples are good for; a pod is in one list, or counts as ready. */
interface PodGroups {
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

/** How far pods are from their target, together. */
interface Measurement {
  /** Value over target. */
  readonly ratio: number;
  /** The mean over the pods that count, in thousandths. */
  readonly average: bigint;
  /** Percent of what is requested; only where the target is one. */
  readonly utilization?: number;
}

/** One way of comparing pods with a target. */
interface PodMeasure {
  /** @throws {MetricFailure} when nothing can be measured */
  measure(values: ReadonlyMap<string, bigint>): Measurement;

  /**
   * What a pod without a sample is taken to use, in thousandths.
   *
   * @param ratio of the pods that have one; `undefined` is to leave the pod out
   */
  assumedOfMissing(pod: string, ratio: number): bigint | undefined;
}

/**
 * Compares the mean of the pods' values, in whole thousandths rounded towards zero, with a target.
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

    /** Scaling down, exactly the target; scaling up, nothing; at exactly the target it is left out. */
    assumedOfMissing(_pod, ratio) {
      if (ratio === 1) return undefined;
      return ratio < 1 ? target : 0n;
    },
  };
}

/**
 * Compares what pods use with what they request, in whole percent rounded down.
 *
 * Values of pods that have no request, because there are no such pods, are left out.
 *
 * @param requests thousandths by pod
 * @param target percent
 */
export function utilizationMeasure(requests: ReadonlyMap<string, bigint>, target: number): PodMeasure {
  return {
    measure(values) {
      let used = 0n;
      let requested = 0n;
      let pods = 0n;
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
      return { ratio: utilization / target, average: used / pods, utilization };
    },

    /** As an average does, but scaling down everything that it requests, or what it may use where that is more. */
    assumedOfMissing(pod, ratio) {
      if (ratio > 1) return 0n;
      if (ratio === 1) return undefined;
      const percent = BigInt(Math.max(100, target));
      return toInt64((requests.get(pod) ?? 0n) * percent) / 100n;
    },
  };
}

/** How far below and above its target a metric may be, as parts of it, before it scales. */
export interface Tolerances {
  readonly scaleDown: number;
  readonly scaleUp: number;
}

/** The tolerances of an HPA: its own where the feature is on and it has some, else the controller's. */
export function tolerancesOf(behavior: HpaBehavior | undefined, config: HpaConfig): Tolerances {
  const { tolerance, configurableTolerance } = config;
  if (!configurableTolerance || !behavior) return { scaleDown: tolerance, scaleUp: tolerance };
  return {
    scaleDown: toNumber(behavior.scaleDown?.tolerance) ?? tolerance,
    scaleUp: toNumber(behavior.scaleUp?.tolerance) ?? tolerance,
  };
}

/** Whether a ratio of value to target is close enough to 1; what is not a number is not. */
export function isWithin(ratio: number, { scaleDown, scaleUp }: Tolerances): boolean {
  return 1 - scaleDown <= ratio && ratio <= 1 + scaleUp;
}

/** Kubernetes multiplies the digits by a power of ten, which may differ in the last bit from the nearest number. */
function toNumber(quantity: string | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const digits = /^(\d{1,15})([num]?)$/.exec(quantity);
  if (!digits) return Number(parseNanos(quantity)) / 1e9;
  return Number(digits[1]) * (getOwn(POWERS, digits[2] ?? '') ?? 1);
}

const POWERS: Readonly<Record<string, number>> = { m: 1e-3, u: 1e-6, n: 1e-9 };

/** Why a metric proposes no replicas, in the words of Kubernetes' controller where it knows the case. */
export class MetricFailure extends Error {
  /** Set where Kubernetes' controller would have gone on with a number that depends on the processor. */
  readonly isRefusal: boolean;

  constructor(message: string, { isRefusal = false }: { readonly isRefusal?: boolean } = {}) {
    super(message);
    this.name = 'MetricFailure';
    this.isRefusal = isRefusal;
  }
}

/** A selector of a metric that cannot be used: nothing is read or compared then. */
export class SelectorFailure extends MetricFailure {}

/** The largest integer of 64 bits. */
export const MAX_INT64 = 2n ** 63n - 1n;

/** Keeps the low 64 bits, as Go's `int64` does when a sum or product exceeds it. */
export function toInt64(amount: bigint): bigint {
  return BigInt.asIntN(64, amount);
}

/** Keeps the low 32 bits, as Go's `int32(x)` does. */
export function toInt32(amount: bigint): number {
  return Number(BigInt.asIntN(32, amount));
}

/**
 * Rounds a number of replicas up.
 *
 * @returns `undefined` where it is none or exceeds 32 bits: what Go makes of such a number depends on the processor
 */
export function ceilReplicas(replicas: number): number | undefined {
  const whole = Math.ceil(replicas);
  return whole >= -MOST_REPLICAS - 1 && whole <= MOST_REPLICAS ? whole + 0 : undefined;
}

/** Values of one metric by pod, in thousandths, with when and over which time each was taken. */
export type PodSamples = ReadonlyMap<string, PodSample>;

export interface PodSample {
  readonly thousandths: bigint;
  readonly takenAtMs: number;
  readonly windowMs: number;
}
