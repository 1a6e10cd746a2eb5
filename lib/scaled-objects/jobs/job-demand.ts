import type { ObservedMetric } from '../metrics/metric-state.ts';

/** What one trigger asks for. */
export interface TriggerDemand {
  readonly queueLength: number;
  /** How many Jobs that is, at most as many as there may be. */
  readonly jobs: number;
  readonly isActive: boolean;
}

/** What all triggers ask for together, in whole Jobs. */
export interface JobDemand {
  readonly queueLength: number;
  readonly jobs: number;
  readonly isActive: boolean;
}

/** What the metrics of one trigger ask for; `undefined` for one whose value is not known. */
export function demandOf(metrics: readonly ObservedMetric[], max: number): TriggerDemand | undefined {
  const [first] = metrics;
  if (first?.state.kind !== 'value') return undefined;
  const queueLength = first.state.values.reduce((sum, value) => sum + value, 0);
  const target = metrics.reduce((sum, { metric }) => sum + metric.target, 0) / metrics.length;
  const jobs = target === 0 ? 0 : Math.min(queueLength / target, max);
  const isActive = metrics.some(({ state }) => state.kind === 'value' && state.isActive);
  return { queueLength, jobs, isActive };
}

/** Brings together what active triggers ask for. */
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
