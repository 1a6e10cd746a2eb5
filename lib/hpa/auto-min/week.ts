/** The highest load of a metric on one day. */
export interface DayPeak {
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
export function wholeDays(week: Week, metric: string, today: number): readonly (DayPeak | undefined)[] {
  const days = week.peaks.get(metric) ?? [];
  return Array.from({ length: WEEK_DAYS }, (_, place) => {
    const wanted = today - 1 - place;
    return wanted === week.firstDay ? undefined : days.find(({ day }) => day === wanted);
  });
}

/** What a minimum of one replica would have had to carry: what stays the same when the minimum changes. */
export function carriedOf({ load, minReplicas }: DayPeak): number {
  return load * minReplicas;
}
