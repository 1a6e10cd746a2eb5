import type { ScalingStrategy } from '../api/scaled-job.ts';
import type { JobDemand } from './job-demand.ts';

/** How many Jobs there are, and how many there may be. */
export interface JobCounts {
  /** Those that have not ended. */
  readonly running: number;
  /** Of them, those that have no pod yet that does anything. */
  readonly pending: number;
  readonly min: number;
  /** Beside min. */
  readonly max: number;
}

/** How many Jobs are made now. */
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

/** `undefined` where it cannot be read: the usual strategy counts then. */
function percentageOf(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}
