import type { AutoMinSettings } from '../min-replicas/auto-min-settings.ts';
import type { MetricGoal } from './measured-loads.ts';
import { carriedOf, type DayPeak, type Week, wholeDays } from './week.ts';

/** What a week says of the minimum. */
export type WeekJudgement =
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
