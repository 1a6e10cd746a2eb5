import type { HpaSpec, MetricSpec, MetricTarget } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { parseThousandths } from '#lib/kubernetes/quantity.ts';
import type { Explanation } from '../decision/decision.ts';
import type { MetricExplanation } from '../decision/evaluate-metrics.ts';
import type { AutoMinSettings } from './auto-min-settings.ts';

/** What a week says of the minimum. */
type WeekJudgement =
  /** Too little is known. */
  | { readonly kind: 'unknown'; readonly why: string }
  /** The minimum is as it should be, or may not be changed. */
  | { readonly kind: 'kept'; readonly why: string }
  | ({ readonly kind: 'change' } & MinimumChange);

/** Another minimum, and where it comes from. */
export interface MinimumChange {
  readonly from: number;
  readonly to: number;
  readonly metric: string;
  /** In the unit of the target, the latest day first; `undefined` for a day without data. */
  readonly peaks: readonly (number | undefined)[];
  readonly weights: readonly number[];
  readonly mean: number;
  readonly target: number;
}

/** With fewer days nothing is said. */
const FEWEST_DAYS = 3;
/** More metrics are nobody's who wants a response from a week. */
const MOST_METRICS = 32;

/** What a week is judged by. */
export interface JudgementInput {
  readonly week: Week;
  /** In the order of the HPA's spec. */
  readonly goals: readonly (MetricGoal | undefined)[];
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly settings: Pick<AutoMinSettings, 'lowest' | 'highest'>;
  /** Of the last days, the latest first. */
  readonly weights: readonly number[];
  readonly today: number;
}

/**
 * Works out which minimum would have carried the week: for each metric the weighted mean of the days' peaks against the
 * target, by the HPA's own formula; the metric that needs the most decides, and one of which too little is known
 * could have needed more.
 */
export function judgeWeek(input: JudgementInput): WeekJudgement {
  const { goals, minReplicas: from, maxReplicas, settings } = input;
  if (from < 1) return { kind: 'kept', why: 'the minimum is zero' };
  if (goals.length > MOST_METRICS) return { kind: 'unknown', why: `more than ${MOST_METRICS} metrics` };
  let highest: MinimumChange | undefined;
  for (const goal of goals) {
    if (!goal) return { kind: 'unknown', why: 'a metric has no target above zero' };
    const change = neededBy(goal, input);
    if (typeof change === 'string') return { kind: 'unknown', why: change };
    if (!highest || change.to > highest.to) highest = change;
  }
  if (!highest) return { kind: 'unknown', why: 'the HPA has no metrics' };
  const { lowest, highest: bound } = settings;
  const wanted = Math.max(highest.to, lowest);
  const to = Math.min(wanted, bound ?? from, maxReplicas);
  if (to !== from) return { kind: 'change', ...highest, to };
  const isUnasked = bound === undefined && wanted > from;
  const more = isUnasked ? ', and nobody asked for raising it' : '';
  return { kind: 'kept', why: `the week asks for ${highest.to}${more}` };
}

function neededBy(
  { metric, target }: MetricGoal,
  { week, weights, today, minReplicas }: JudgementInput,
): MinimumChange | string {
  const days = wholeDays(week, metric, today);
  let [sum, weight, count] = [0, 0, 0];
  days.forEach((peak, place) => {
    if (!peak) return;
    sum += onMinimum(peak, minReplicas) * (weights[place] ?? 0);
    weight += weights[place] ?? 0;
    count++;
  });
  if (count < FEWEST_DAYS) return `of ${metric}, ${count} whole days are known and ${FEWEST_DAYS} are needed`;
  const mean = sum / weight;
  const peaks = days.map((peak) => peak && onMinimum(peak, minReplicas));
  const to = Math.max(1, Math.ceil((minReplicas * mean) / target - PRECISION));
  return { from: minReplicas, to: Math.min(to, MOST_REPLICAS), metric, peaks, weights, mean, target };
}

/** What floating-point numbers add to a product. */
const PRECISION = 1e-9;
const MOST_REPLICAS = 2 ** 31 - 1;

/** A day's load as it would be on the minimum of now. */
function onMinimum(peak: DayPeak, minReplicas: number): number {
  return carriedOf(peak) / minReplicas;
}

/** The highest load of a metric on one day. */
interface DayPeak {
  /** Days since the Unix epoch, by UTC. */
  readonly day: number;
  /** For each replica of the minimum, in the unit of the metric's target. */
  readonly load: number;
  /** The minimum of that time. */
  readonly minReplicas: number;
}

/** What is known of the last days of an HPA. */
export interface Week {
  /** The day on which the HPA was first seen: it is not whole, so it does not count. */
  readonly firstDay: number;
  /** The last day on which something was said or changed, or nothing was found to say. */
  readonly judgedDay: number | undefined;
  /** By metric, the oldest first. */
  readonly peaks: ReadonlyMap<string, readonly DayPeak[]>;
}

/** How many whole days count. */
export const WEEK_DAYS = 7;

const DAY_MS = 86_400_000;

/** The day of a moment. */
export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}

/** When a day begins. */
export function startOfDayMs(day: number): number {
  return day * DAY_MS;
}

/** Nothing was measured yet. */
export function emptyWeek(firstDay: number): Week {
  return { firstDay, judgedDay: undefined, peaks: new Map() };
}

/**
 * Takes in what was measured; the same week where that is no peak. What is too old to count goes, and what a clock that was
 * wrong has put days ahead.
 */
export function withPeak(week: Week, metric: string, peak: DayPeak): Week {
  const days = week.peaks.get(metric) ?? [];
  const known = days.find(({ day }) => day === peak.day);
  if (known && carriedOf(known) >= carriedOf(peak)) return week;
  const others = days.filter(({ day }) => day !== peak.day && Math.abs(day - peak.day) <= WEEK_DAYS);
  const all = [...others, peak].sort((one, other) => one.day - other.day);
  return { ...week, peaks: new Map(week.peaks).set(metric, all) };
}

/** Leaves out metrics that the HPA does not have any more. */
export function withMetricsOf(week: Week, metrics: ReadonlySet<string>): Week {
  const peaks = [...week.peaks].filter(([metric]) => metrics.has(metric));
  return peaks.length === week.peaks.size ? week : { ...week, peaks: new Map(peaks) };
}

/** The peaks of the whole days before a day, the latest first; `undefined` in the place of a day without data. */
function wholeDays(week: Week, metric: string, today: number): readonly (DayPeak | undefined)[] {
  const days = week.peaks.get(metric) ?? [];
  return Array.from({ length: WEEK_DAYS }, (_, place) => {
    const wanted = today - 1 - place;
    return wanted === week.firstDay ? undefined : days.find(({ day }) => day === wanted);
  });
}

/** What a minimum of one replica would have had to carry: what stays the same when the minimum changes. */
function carriedOf({ load, minReplicas }: DayPeak): number {
  return load * minReplicas;
}

/** How heavy one metric of an HPA was on each replica of the minimum. */
interface MeasuredLoad {
  /** Tells the metric from the others of the HPA. */
  readonly metric: string;
  /** In the unit of the target. */
  readonly load: number;
}

/** A metric and what it is to be, as a number. */
interface MetricGoal {
  readonly metric: string;
  readonly target: number;
}

/** The loads that a decision was made from; metrics that could not be read are not among them. */
export function measuredLoads({ metrics = [] }: HpaSpec, explanation: Explanation): readonly MeasuredLoad[] {
  const { currentReplicas, minReplicas } = explanation;
  if (currentReplicas === undefined) return [];
  return metrics.flatMap((spec, place) => {
    const goal = goalOf(spec);
    const ratio = ratioOf(explanation.metrics[place]);
    if (!goal || ratio === undefined) return [];
    const load = ratioOnMinimum(ratio, { currentReplicas, minReplicas }) * goal.target;
    return Number.isFinite(load) && load >= 0 ? { metric: goal.metric, load } : [];
  });
}

/** The metrics of an HPA; `undefined` for one whose target is no number above zero. */
export function metricGoals({ metrics = [] }: HpaSpec): readonly (MetricGoal | undefined)[] {
  return metrics.map(goalOf);
}

/**
 * How heavy the load would be on the minimum. Above the target it is as the HPA's rules read it. Below, while more
 * replicas run than the minimum, each replica of the minimum would carry more, though no more than the target says here:
 * that many replicas are what scaling is for.
 */
export function ratioOnMinimum(
  ratio: number,
  { currentReplicas, minReplicas }: { readonly currentReplicas: number; readonly minReplicas: number },
): number {
  if (ratio >= 1 || currentReplicas <= minReplicas || minReplicas === 0) return ratio;
  return Math.min(1, (ratio * currentReplicas) / minReplicas);
}

/** A target as a number: percent, or the amount. */
export function targetNumber({ averageValue, value, averageUtilization }: MetricTarget): number | undefined {
  const amount = averageValue ?? value;
  const target = amount === undefined ? averageUtilization : amountOf(amount);
  return target !== undefined && target > 0 ? target : undefined;
}

/** What a target's number means, as kube-state-metrics calls it, too. */
export function targetKind({ averageValue, value }: MetricTarget): 'average' | 'value' | 'utilization' {
  return averageValue !== undefined ? 'average' : value !== undefined ? 'value' : 'utilization';
}

/** What of a metric's spec says which it is. */
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
  return { metric: metric.slice(0, LONGEST_NAME), target: number };
}

const LONGEST_NAME = 512;

function ratioOf(metric: MetricExplanation | undefined): number | undefined {
  return metric?.failure ? undefined : metric?.proposal?.ratio;
}

function amountOf(text: string): number | undefined {
  try {
    return Number(parseThousandths(text)) / 1000;
  } catch {
    return undefined; // the metric fails, too, and tells why
  }
}

function selectorOf({ selector }: { readonly selector?: object }): string {
  return selector ? JSON.stringify(selector) : '';
}
