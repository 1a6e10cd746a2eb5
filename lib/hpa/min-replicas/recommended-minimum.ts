import type { HpaSpec, MetricSpec, MetricTarget } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { parseThousandths } from '#lib/kubernetes/quantity.ts';
import type { Explanation } from '../decision/decision.ts';
import type { MetricExplanation } from '../decision/evaluate-metrics.ts';
import { AUTO_MIN_HIGHEST, type AutoMinSettings } from './auto-min-settings.ts';

/** The recommendation of a week. */
type WeekJudgement =
  /** Not enough data. */
  | { readonly kind: 'unknown'; readonly why: string }
  /** minReplicas is right, or must not change. */
  | { readonly kind: 'unchanged'; readonly why: string }
  | ({ readonly kind: 'change' } & MinimumChange);

/** A recommended change, with its data. */
export interface MinimumChange {
  readonly from: number;
  readonly to: number;
  readonly metric: string;
  /** In the unit of the target, latest day first; `undefined` for a day without data. */
  readonly peaks: readonly (number | undefined)[];
  readonly weights: readonly number[];
  readonly mean: number;
  readonly target: number;
}

/** Minimum of days with data. */
const MIN_DAYS = 3;
/** HPAs with more metrics get no recommendation. */
const MAX_METRICS = 32;

export interface JudgementInput {
  readonly week: Week;
  /** In the order of the spec. */
  readonly goals: readonly (MetricGoal | undefined)[];
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly settings: Pick<AutoMinSettings, 'lowest' | 'highest'>;
  /** Weights of the last days, latest first. */
  readonly weights: readonly number[];
  readonly today: number;
}

/**
 * Computes the minReplicas that would have carried the week: for each metric the weighted average of daily peaks against
 * the target, by the formula of HPAs. The highest result wins; a metric without enough data could have needed more.
 */
export function judgeWeek(input: JudgementInput): WeekJudgement {
  const { goals, minReplicas: from, maxReplicas, settings } = input;
  if (from < 1) return { kind: 'unchanged', why: 'the minimum is zero' };
  if (goals.length > MAX_METRICS)
    return { kind: 'unknown', why: `the HPA has more than ${MAX_METRICS} metrics` };
  let highest: MinimumChange | undefined;
  for (const goal of goals) {
    if (!goal) return { kind: 'unknown', why: 'a metric has no target above zero' };
    const change = neededBy(goal, input);
    if (typeof change === 'string') return { kind: 'unknown', why: change };
    if (!highest || change.to > highest.to) highest = change;
  }
  if (!highest) return { kind: 'unknown', why: 'the HPA has no metrics' };
  const { lowest, highest: bound } = settings;
  const desired = Math.max(highest.to, lowest);
  const to = Math.min(desired, bound ?? from, maxReplicas);
  if (to !== from) return { kind: 'change', ...highest, to };
  const isRaiseDisallowed = bound === undefined && desired > from;
  const more = isRaiseDisallowed
    ? `, and the annotation ${AUTO_MIN_HIGHEST}, which allows raising minReplicas, is not set`
    : '';
  return { kind: 'unchanged', why: `the load of the last week requires ${highest.to}${more}` };
}

function neededBy(
  { metric, target }: MetricGoal,
  { week, weights, today, minReplicas }: JudgementInput,
): MinimumChange | string {
  const days = wholeDays(week, metric, today);
  let [sum, weight, count] = [0, 0, 0];
  days.forEach((peak, index) => {
    if (!peak) return;
    sum += onMinimum(peak, minReplicas) * (weights[index] ?? 0);
    weight += weights[index] ?? 0;
    count++;
  });
  if (count < MIN_DAYS) return `${metric} has data for ${count} whole days, but ${MIN_DAYS} are required`;
  const mean = sum / weight;
  const peaks = days.map((peak) => peak && onMinimum(peak, minReplicas));
  const to = Math.max(1, Math.ceil((minReplicas * mean) / target - PRECISION));
  return { from: minReplicas, to: Math.min(to, MAX_REPLICAS), metric, peaks, weights, mean, target };
}

/** Rounding error of floating-point products. */
const PRECISION = 1e-9;
const MAX_REPLICAS = 2 ** 31 - 1;

/** The load of a day, converted to the current minReplicas. */
function onMinimum(peak: DayPeak, minReplicas: number): number {
  return carriedOf(peak) / minReplicas;
}

/** The peak load of a metric on one day. */
interface DayPeak {
  /** Days since the Unix epoch, by UTC. */
  readonly day: number;
  /** Per replica of minReplicas, in the unit of the target. */
  readonly load: number;
  /** minReplicas at that time. */
  readonly minReplicas: number;
}

/** The recorded days of an HPA. */
export interface Week {
  /** The day of the first observation, which is incomplete and does not count. */
  readonly firstDay: number;
  /** The last evaluated day. */
  readonly judgedDay: number | undefined;
  /** By metric, oldest first. */
  readonly peaks: ReadonlyMap<string, readonly DayPeak[]>;
}

/** Number of whole days that count. */
export const WEEK_DAYS = 7;

const DAY_MS = 86_400_000;

/** Days since the Unix epoch, by UTC. */
export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}

export function startOfDayMs(day: number): number {
  return day * DAY_MS;
}

export function emptyWeek(firstDay: number): Week {
  return { firstDay, judgedDay: undefined, peaks: new Map() };
}

/**
 * Records a load; returns the same week if it is no peak. Drops outdated days, and days in the future that a wrong clock
 * has recorded.
 */
export function withPeak(week: Week, metric: string, peak: DayPeak): Week {
  const days = week.peaks.get(metric) ?? [];
  const recorded = days.find(({ day }) => day === peak.day);
  if (recorded && carriedOf(recorded) >= carriedOf(peak)) return week;
  const others = days.filter(({ day }) => day !== peak.day && Math.abs(day - peak.day) <= WEEK_DAYS);
  const all = [...others, peak].sort((one, other) => one.day - other.day);
  return { ...week, peaks: new Map(week.peaks).set(metric, all) };
}

/** Drops metrics that the HPA no longer has. */
export function withMetricsOf(week: Week, metrics: ReadonlySet<string>): Week {
  const peaks = [...week.peaks].filter(([metric]) => metrics.has(metric));
  return peaks.length === week.peaks.size ? week : { ...week, peaks: new Map(peaks) };
}

/** The peaks of whole days before a day, latest first; `undefined` for a day without data. */
function wholeDays(week: Week, metric: string, today: number): readonly (DayPeak | undefined)[] {
  const days = week.peaks.get(metric) ?? [];
  return Array.from({ length: WEEK_DAYS }, (_, index) => {
    const desired = today - 1 - index;
    return desired === week.firstDay ? undefined : days.find(({ day }) => day === desired);
  });
}

/** The load of one replica of minReplicas times minReplicas: independent of minReplicas. */
function carriedOf({ load, minReplicas }: DayPeak): number {
  return load * minReplicas;
}

/** The load of one metric per replica of minReplicas. */
interface MeasuredLoad {
  /** Identifies the metric within the HPA. */
  readonly metric: string;
  /** In the unit of the target. */
  readonly load: number;
}

/** A metric with its target as a number. */
interface MetricGoal {
  readonly metric: string;
  readonly target: number;
}

/** The loads of a decision, without metrics that could not be read. */
export function measuredLoads({ metrics = [] }: HpaSpec, explanation: Explanation): readonly MeasuredLoad[] {
  const { currentReplicas, minReplicas } = explanation;
  if (currentReplicas === undefined) return [];
  return metrics.flatMap((spec, index) => {
    const goal = goalOf(spec);
    const ratio = ratioOf(explanation.metrics[index]);
    if (!goal || ratio === undefined) return [];
    const load = ratioOnMinimum(ratio, { currentReplicas, minReplicas }) * goal.target;
    return Number.isFinite(load) && load >= 0 ? { metric: goal.metric, load } : [];
  });
}

/** The metrics of an HPA; `undefined` for one whose target is not above zero. */
export function metricGoals({ metrics = [] }: HpaSpec): readonly (MetricGoal | undefined)[] {
  return metrics.map(goalOf);
}

/**
 * The load on minReplicas relative to the target. Above the target it is the ratio of the HPA. Below it, while more replicas
 * run than minReplicas, each would carry more, but at most the target: scaling adds replicas beyond that.
 */
export function ratioOnMinimum(
  ratio: number,
  { currentReplicas, minReplicas }: { readonly currentReplicas: number; readonly minReplicas: number },
): number {
  if (ratio >= 1 || currentReplicas <= minReplicas || minReplicas === 0) return ratio;
  return Math.min(1, (ratio * currentReplicas) / minReplicas);
}

/** The target as a number: percent, or the amount. */
export function targetNumber({ averageValue, value, averageUtilization }: MetricTarget): number | undefined {
  const amount = averageValue ?? value;
  const target = amount === undefined ? averageUtilization : amountOf(amount);
  return target !== undefined && target > 0 ? target : undefined;
}

/** The type of a target, as in kube-state-metrics. */
export function targetKind({ averageValue, value }: MetricTarget): 'average' | 'value' | 'utilization' {
  return averageValue !== undefined ? 'average' : value !== undefined ? 'value' : 'utilization';
}

/** The identifying fields of a metric spec. */
export function sourceOf(spec: MetricSpec): {
  readonly name: string;
  readonly of: string;
  readonly target: MetricTarget;
} {
  switch (spec.type) {
    case 'Resource':
      return { name: spec.resource.name, of: '', target: spec.resource.target };
    case 'ContainerResource':
      return { ...spec.containerResource, of: spec.containerResource.container };
    case 'Object': {
      const { metric, describedObject, target } = spec.object;
      return {
        name: metric.name,
        of: `${describedObject.kind}/${describedObject.name}${selectorOf(metric)}`,
        target,
      };
    }
    default: {
      const { metric, target } = spec.type === 'Pods' ? spec.pods : spec.external;
      return { name: metric.name, of: selectorOf(metric), target };
    }
  }
}

function goalOf(spec: MetricSpec): MetricGoal | undefined {
  const { name, of, target } = sourceOf(spec);
  const number = targetNumber(target);
  if (number === undefined) return undefined;
  const metric = [spec.type, name, ...(of === '' ? [] : [of]), targetKind(target)].join(' ');
  return { metric: metric.slice(0, MAX_NAME_LENGTH), target: number };
}

const MAX_NAME_LENGTH = 512;

function ratioOf(metric: MetricExplanation | undefined): number | undefined {
  return metric?.failure ? undefined : metric?.proposal?.ratio;
}

function amountOf(text: string): number | undefined {
  try {
    return Number(parseThousandths(text)) / 1000;
  } catch {
    return undefined; // the metric fails too and reports the cause
  }
}

function selectorOf({ selector }: { readonly selector?: object }): string {
  return selector ? JSON.stringify(selector) : '';
}
