import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { Sample } from '#lib/sources/sample.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  emptyWeek,
  metricGoals,
  ratioOnMinimum,
  sourceOf,
  startOfDayMs,
  targetKind,
  targetNumber,
  WEEK_DAYS,
  type Week,
  withPeak,
} from './recommended-minimum.ts';

/** Runs an instant query. */
export type QueryPrometheus = (query: string, signal: AbortSignal) => Promise<readonly Sample[]>;

/** The samples of one day of a namespace, by HPA and metric. */
interface Day {
  readonly day: number;
  readonly minReplicas: readonly Sample[];
  readonly loads: readonly Sample[];
  /** Loads times replicas. */
  readonly totals: readonly Sample[];
}

const OF = 'kube_horizontalpodautoscaler';
/** HPAs of a namespace that were first observed on one day share queries within this time. */
const SHARED_MS = 600_000;

/**
 * Reads weeks from the HPA metrics of kube-state-metrics: metric values as the controller read them. Queries run one after
 * another, three for each day and namespace.
 */
export class WeekFromPrometheus {
  readonly #query: QueryPrometheus;
  readonly #clock: Clock;
  /** By namespace and the day after the last one. */
  readonly #shared = new Map<string, { readonly atMs: number; readonly days: Promise<readonly Day[]> }>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(query: QueryPrometheus, clock: Clock) {
    this.#query = query;
    this.#clock = clock;
  }

  /** The whole days before today. @throws when a query fails */
  async read(hpa: Hpa, today: number, signal: AbortSignal): Promise<Week> {
    const days = await this.#daysOf(hpa.metadata.namespace, today, signal);
    const goals = metricGoals(hpa.spec);
    let week = emptyWeek(today);
    for (const { day, minReplicas: minimums, loads, totals } of days) {
      const minReplicas = only(minimums, hpa, {}) ?? 0;
      if (!Number.isInteger(minReplicas) || minReplicas < 1) continue;
      for (const [index, spec] of (hpa.spec.metrics ?? []).entries()) {
        const { name, target } = sourceOf(spec);
        const number = targetNumber(target);
        const metric = goals[index]?.metric;
        if (number === undefined || metric === undefined) continue;
        const labels = { metric_name: name, metric_target_type: targetKind(target) };
        const load = only(loads, hpa, labels);
        if (load === undefined) continue;
        const total = only(totals, hpa, labels) ?? load * minReplicas;
        const currentReplicas = Math.max(minReplicas, load > 0 ? total / load : 0);
        const onMinimum = ratioOnMinimum(load / number, { currentReplicas, minReplicas }) * number;
        week = withPeak(week, metric, { day, load: onMinimum, minReplicas });
      }
    }
    return week;
  }

  #daysOf(namespace: string, today: number, signal: AbortSignal): Promise<readonly Day[]> {
    const nowMs = this.#clock.monotonicMs();
    for (const [old, { atMs }] of this.#shared) if (nowMs - atMs >= SHARED_MS) this.#shared.delete(old);
    const key = `${namespace} ${today}`;
    const shared = this.#shared.get(key);
    if (shared) return shared.days;
    const days = this.#last.then(() => this.#read(namespace, today, signal));
    this.#last = days.catch(() => {}); // its callers get the error
    this.#shared.set(key, { atMs: nowMs, days });
    return days;
  }

  async #read(namespace: string, today: number, signal: AbortSignal): Promise<readonly Day[]> {
    const days: Day[] = [];
    for (let day = today - WEEK_DAYS; day < today; day++) {
      const offset = `offset ${Math.round((this.#clock.nowMs() - startOfDayMs(day + 1)) / 1000)}s`;
      const selector = `{namespace=${JSON.stringify(namespace)}}`;
      const load = `${OF}_status_target_metric${selector}`;
      const replicas = `${OF}_status_current_replicas${selector}`;
      const product = `${load} * on (namespace, horizontalpodautoscaler) group_left () ${replicas}`;
      // The vector belongs to no HPA: a day without samples is not an empty response.
      const highest = (query: string) =>
        this.#query(`max_over_time(${query} ${offset}) or vector(0)`, signal);
      days.push({
        day,
        minReplicas: await highest(`${OF}_spec_min_replicas${selector}[1d]`),
        loads: await highest(`${load}[1d]`),
        totals: await highest(`(${product})[1d:5m]`),
      });
    }
    return days;
  }
}

/** The highest matching sample of an HPA: several instances may report it. */
function only(
  samples: readonly Sample[],
  { metadata }: Hpa,
  expected: Readonly<Record<string, string>>,
): number | undefined {
  let highest: number | undefined;
  for (const { value, labels } of samples) {
    const isMeant =
      labels.horizontalpodautoscaler === metadata.name &&
      Object.entries(expected).every(([label, text]) => getOwn(labels, label) === text);
    if (isMeant && Number.isFinite(value) && value >= 0) highest = Math.max(highest ?? 0, value);
  }
  return highest;
}
