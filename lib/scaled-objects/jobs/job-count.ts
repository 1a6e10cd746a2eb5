import type { ScalingStrategy } from '../api/scaled-job.ts';
import type { ObservedMetric } from '../metrics/metric-state.ts';

export interface TriggerDemand {
  readonly queueLength: number;
  /** Queue length divided by the target, limited by `maxReplicaCount`; not rounded. */
  readonly jobs: number;
  readonly isActive: boolean;
}

/** Combined demand of all triggers, rounded up to whole Jobs. */
export interface JobDemand {
  readonly queueLength: number;
  readonly jobs: number;
  readonly isActive: boolean;
}

/** @returns `undefined` if the trigger has no value */
export function demandOf(metrics: readonly ObservedMetric[], max: number): TriggerDemand | undefined {
  const [first] = metrics;
  if (first?.state.kind !== 'value') return undefined;
  const queueLength = first.state.values.reduce((sum, value) => sum + value, 0);
  const target = metrics.reduce((sum, { metric }) => sum + metric.target, 0) / metrics.length;
  const jobs = target === 0 ? 0 : Math.min(queueLength / target, max);
  const isActive = metrics.some(({ state }) => state.kind === 'value' && state.isActive);
  return { queueLength, jobs, isActive };
}

/** Combines the demands of active triggers by `multipleScalersCalculation`: min, max, sum or avg. */
export function combineDemands(
  demands: readonly TriggerDemand[],
  { calculation, max, min }: { readonly calculation: string; readonly max: number; readonly min: number },
): JobDemand {
  const active = demands.filter(({ isActive }) => isActive);
  const { queueLength, jobs } = combine(active, calculation);
  return {
    queueLength: Math.ceil(queueLength),
    jobs: Math.ceil(Math.min(jobs, max)),
    isActive: min > 0 || active.length > 0,
  };
}

type Lengths = Pick<TriggerDemand, 'queueLength' | 'jobs'>;

function combine(active: readonly TriggerDemand[], calculation: string): Lengths {
  const [first, ...others] = active;
  if (!first) return { queueLength: 0, jobs: 0 };
  if (calculation === 'min')
    return others.reduce<Lengths>((a, b) => (b.queueLength < a.queueLength ? b : a), first);
  if (calculation !== 'sum' && calculation !== 'avg')
    return others.reduce<Lengths>((a, b) => (b.queueLength > a.queueLength ? b : a), first);
  const queueLength = active.reduce((sum, one) => sum + one.queueLength, 0);
  const jobs = active.reduce((sum, one) => sum + one.jobs, 0);
  const divisor = calculation === 'avg' ? active.length : 1;
  return { queueLength: queueLength / divisor, jobs: jobs / divisor };
}

interface JobCounts {
  /** Jobs that have not ended. */
  readonly running: number;
  /** Running Jobs without a working pod. */
  readonly pending: number;
  readonly min: number;
  /** In addition to `min`. */
  readonly max: number;
}

/** Number of Jobs to create, by KEDA's scaling strategies. */
export function newJobCount(demand: JobDemand, counts: JobCounts, strategy: ScalingStrategy = {}): number {
  const { running, min } = counts;
  if (!demand.isActive) return 0;
  if (running < min) return min - running;
  const { effective, scaleTo } = effectiveOf(demand, counts, strategy);
  return Math.max(0, Math.min(scaleTo, effective));
}

function effectiveOf(
  { queueLength, jobs }: JobDemand,
  { running, pending, min, max }: JobCounts,
  strategy: ScalingStrategy,
): { readonly effective: number; readonly scaleTo: number } {
  const extra = running - min;
  if (strategy.strategy === 'custom') {
    const percentage = percentageOf(strategy.customScalingRunningJobPercentage);
    if (percentage !== undefined) {
      const deduction = strategy.customScalingQueueLengthDeduction ?? 0;
      const effective = Math.min(jobs - deduction - Math.trunc(extra * percentage), max);
      return { effective, scaleTo: queueLength };
    }
  }
  if (strategy.strategy === 'accurate') {
    const isOver = jobs + extra - pending > max;
    return { effective: isOver ? max - extra : jobs - pending, scaleTo: queueLength };
  }
  if (strategy.strategy === 'eager')
    return { effective: Math.min(max - extra - pending, jobs), scaleTo: max };
  return { effective: jobs - extra, scaleTo: queueLength };
}

/** @returns `undefined` for an unreadable text: the default strategy then applies, as in KEDA */
function percentageOf(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}
