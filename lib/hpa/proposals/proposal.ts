import { ceilReplicas, MOST_REPLICAS } from '../quantities/go-integers.ts';
import { MetricFailure } from './metric-failure.ts';
import type { Tolerances } from './tolerance.ts';

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
export interface PodsConsidered {
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
export function leftOut(names: readonly string[]): LeftOutPods {
  return { count: names.length, names: names.slice(0, NAMED_PODS) };
}

/**
 * Rounds a number of replicas up, and refuses those that no replica count holds.
 *
 * @throws {MetricFailure} a refusal
 */
export function wholeReplicas(replicas: number): number {
  const whole = ceilReplicas(replicas);
  if (whole !== undefined) return whole;
  throw new MetricFailure(
    `the metric asks for ${replicas} replicas, and a replica count ends at ${MOST_REPLICAS}`,
    { isRefusal: true },
  );
}
