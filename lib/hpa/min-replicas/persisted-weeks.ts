import * as z from 'zod';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { parseJson } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { type ConfigMapStore, PersistFailures } from '../state/config-map-store.ts';
import { spreadOf } from '../sync-schedule.ts';
import {
  dayOf,
  emptyWeek,
  metricGoals,
  WEEK_DAYS,
  type Week,
  withMetricsOf,
  withPeak,
} from './recommended-minimum.ts';

export interface PersistedWeeksOptions {
  readonly store: Pick<ConfigMapStore, 'get' | 'put'>;
  /** Reads the days before an HPA was first observed. */
  readonly weekBefore: ((hpa: Hpa, firstDay: number, signal: AbortSignal) => Promise<Week>) | undefined;
  readonly logger: Logger;
  /** Nothing is persisted. */
  readonly isDryRun: boolean;
}

/** The week of one HPA. */
export interface CachedWeek {
  /** Its last observed version. */
  hpa: Hpa;
  week: Week;
  /** The persisted record. */
  text: string | undefined;
  /** State of the query for the days before the first one; `missing` is retried. */
  before: 'complete' | 'pending' | 'missing';
  /** Time of the last query. */
  queriedAtMs: number;
}

/** Raised peaks of a namespace are persisted this often; a killed process loses later ones. */
const PERSIST_INTERVAL_MS = 600_000;
/** Retry interval of failed Prometheus queries. */
const QUERY_INTERVAL_MS = 900_000;

const WITHOUT_WEEK =
  'Cannot read the past week of an HPA from Prometheus; automatic minReplicas uses only the days since this process first observed the HPA, and the query is retried every 15 minutes';

/** Caches the weeks of HPAs for one leadership term, and persists them for the next. */
export class PersistedWeeks {
  readonly #options: PersistedWeeksOptions;
  /** By namespace and name. */
  readonly #cached = new Map<string, Map<string, CachedWeek>>();
  /** When the weeks of a namespace were persisted. */
  readonly #persistedAtMs = new Map<string, number>();
  readonly #persistFailures = new PersistFailures();
  /** Failures for all HPAs: there is one Prometheus. */
  readonly #failures: FailureLog;

  constructor(options: PersistedWeeksOptions) {
    this.#options = options;
    this.#failures = new FailureLog({
      logger: options.logger,
      failing: WITHOUT_WEEK,
      lineOf: () => ({ level: 'warning', message: WITHOUT_WEEK }),
      recovered: 'Queries of Prometheus for the past week of HPAs succeed again',
    });
  }

  /** The week of an HPA, with the days before it was first observed once Prometheus has returned them. */
  async get(
    hpa: Hpa,
    { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
  ): Promise<CachedWeek> {
    const { namespace, name, uid } = hpa.metadata;
    let cached = this.#cached.get(namespace)?.get(name);
    if (cached?.hpa.metadata.uid !== uid) {
      cached = await this.#read(hpa, dayOf(nowMs));
      const others = this.#cached.get(namespace) ?? new Map<string, CachedWeek>();
      this.#cached.set(namespace, others.set(name, cached));
    }
    cached.hpa = hpa;
    this.#queryBefore(cached, nowMs, signal);
    return cached;
  }

  /** @returns whether the week is persisted */
  async persist(cached: CachedWeek): Promise<boolean> {
    const { store, isDryRun, logger } = this.#options;
    if (isDryRun) return true;
    const { metadata, spec } = cached.hpa;
    const { namespace, name, uid } = metadata;
    const names = new Set(metricGoals(spec).flatMap((goal) => goal?.metric ?? []));
    cached.week = withMetricsOf(cached.week, names);
    const text = formatWeek({ uid, week: cached.week, lacksBefore: cached.before !== 'complete' });
    if (text === cached.text) return true;
    try {
      await store.put(namespace, weekKey(name), text);
    } catch (error) {
      if (this.#persistFailures.failed(namespace, name))
        logger.error('Cannot persist weeks of HPAs', error, { namespace, name });
      return false; // retried later
    }
    this.#persistFailures.succeeded(namespace, name);
    cached.text = text;
    return true;
  }

  /** Persists raised peaks of a namespace together, as they share an object; namespaces at different times. */
  async persistNamespace(namespace: string, nowMs: number): Promise<void> {
    const persistedAtMs = this.#persistedAtMs.get(namespace);
    if (persistedAtMs !== undefined && Math.abs(nowMs - persistedAtMs) < PERSIST_INTERVAL_MS) return;
    this.#persistedAtMs.set(
      namespace,
      persistedAtMs === undefined ? nowMs - spreadOf(namespace) * PERSIST_INTERVAL_MS : nowMs,
    );
    if (persistedAtMs === undefined) return;
    await Promise.all(
      [...(this.#cached.get(namespace)?.values() ?? [])].map((cached) => this.persist(cached)),
    );
  }

  /** Removes a deleted HPA. */
  async remove(namespace: string, name: string): Promise<void> {
    const { store, isDryRun } = this.#options;
    const others = this.#cached.get(namespace);
    others?.delete(name);
    if (others?.size === 0) {
      this.#cached.delete(namespace);
      this.#persistedAtMs.delete(namespace);
    }
    this.#persistFailures.succeeded(namespace, name);
    if (!isDryRun) await store.put(namespace, weekKey(name), undefined);
  }

  async #read(hpa: Hpa, today: number): Promise<CachedWeek> {
    const { namespace, name, uid } = hpa.metadata;
    const text = await this.#options.store.get(namespace, weekKey(name));
    const record = text === undefined ? undefined : parseWeek(text);
    const unqueried = { before: 'missing', queriedAtMs: Number.NEGATIVE_INFINITY } as const;
    if (record?.uid !== uid) return { hpa, week: emptyWeek(today), text: undefined, ...unqueried };
    return {
      hpa,
      week: record.week,
      text,
      ...unqueried,
      ...(!record.lacksBefore && { before: 'complete' }),
    };
  }

  /** Queries missing days before the first one in the background. */
  #queryBefore(cached: CachedWeek, nowMs: number, signal: AbortSignal): void {
    const { weekBefore } = this.#options;
    if (cached.before !== 'missing' || Math.abs(nowMs - cached.queriedAtMs) < QUERY_INTERVAL_MS) return;
    const { hpa } = cached;
    const { firstDay } = cached.week;
    if (!weekBefore || dayOf(nowMs) - firstDay >= WEEK_DAYS) {
      cached.before = 'complete'; // older days are outdated by now
      return;
    }
    Object.assign(cached, { before: 'pending', queriedAtMs: nowMs });
    weekBefore(hpa, firstDay, signal).then(
      (before) => {
        cached.week = joined(before, cached.week, dayOf(nowMs));
        cached.before = 'complete';
        this.#failures.succeed();
      },
      (error: unknown) => {
        cached.before = 'missing';
        if (signal.aborted) return;
        const { namespace, name } = hpa.metadata;
        this.#failures.fail(error, { hpa: `${namespace}/${name}`, error: describeError(error) });
      },
    );
  }
}

/** Joins earlier and measured days; outdated days would displace current ones. */
function joined(before: Week, since: Week, today: number): Week {
  let week = since;
  for (const [metric, days] of before.peaks) {
    for (const peak of days) if (peak.day >= today - WEEK_DAYS) week = withPeak(week, metric, peak);
  }
  return week;
}

/** The persisted record of an HPA's week. */
interface WeekRecord {
  /** UID of the HPA: a recreated HPA starts over. */
  readonly uid: string;
  readonly week: Week;
  /** Whether the days before the first one are still missing. */
  readonly lacksBefore?: boolean;
}

const day = z.int().nonnegative();
const RECORD = z.object({
  uid: z.string(),
  first: day,
  judged: day.optional(),
  lacksBefore: z.boolean().optional(),
  peaks: z.record(z.string(), z.array(z.tuple([day, z.number().nonnegative(), z.int().positive()])).max(16)),
});

/** Longer texts are not records. */
const MAX_RECORD_LENGTH = 64 * 1024;

/** The ConfigMap key of an HPA's week; not a valid HPA name. */
export function weekKey(name: string): string {
  return `${name}${SUFFIX}`;
}

/** The HPA of a key, of a week or not. */
export function hpaOfKey(key: string): string {
  return key.endsWith(SUFFIX) ? key.slice(0, -SUFFIX.length) : key;
}

const SUFFIX = '_week';

/** Formats a record; loads have six digits. */
export function formatWeek({ uid, lacksBefore, week: { firstDay, judgedDay, peaks } }: WeekRecord): string {
  return JSON.stringify({
    uid,
    first: firstDay,
    ...(judgedDay !== undefined && { judged: judgedDay }),
    ...(lacksBefore && { lacksBefore }),
    peaks: Object.fromEntries(
      [...peaks].map(([metric, days]) => [
        metric,
        days.map((one) => [one.day, Number(one.load.toPrecision(6)), one.minReplicas]),
      ]),
    ),
  });
}

/** Parses a record; `undefined` for invalid text. */
export function parseWeek(text: string): WeekRecord | undefined {
  if (text.length > MAX_RECORD_LENGTH) return undefined;
  const read = RECORD.safeParse(parseJson(text));
  if (!read.success) return undefined;
  const { uid, first: firstDay, judged: judgedDay, lacksBefore, peaks } = read.data;
  const weekOf = Object.entries(peaks).map(
    ([metric, days]) =>
      [metric, days.map(([at, load, minReplicas]) => ({ day: at, load, minReplicas }))] as const,
  );
  const week = { firstDay, judgedDay, peaks: new Map(weekOf) };
  return { uid, week, ...(lacksBefore && { lacksBefore }) };
}
