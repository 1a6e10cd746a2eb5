import * as z from 'zod';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { parseJson } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { type MemoryStore, UnkeptNames } from '../state/config-map-store.ts';
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

/** What weeks are kept with. */
export interface KeptWeeksOptions {
  readonly store: Pick<MemoryStore, 'get' | 'put'>;
  /** What is known of the days before the one on which an HPA was first seen. */
  readonly weekBefore: ((hpa: Hpa, firstDay: number, signal: AbortSignal) => Promise<Week>) | undefined;
  readonly logger: Logger;
  /** Nothing is kept. */
  readonly isDryRun: boolean;
}

/** The week of one HPA, as it is known now. */
export interface KeptWeek {
  /** As it was seen last. */
  hpa: Hpa;
  week: Week;
  /** What the store has of it. */
  text: string | undefined;
  /** Whether the days before the first are being read; `missing` where that failed, to be tried again. */
  before: 'known' | 'asked' | 'missing';
  /** When they were asked for last. */
  askedAtMs: number;
}

/** The peaks of a namespace are kept this often if some have risen; a process that is killed forgets what rose since. */
const KEEP_EVERY_MS = 600_000;
/** A Prometheus that could not tell of the days before is asked again after this long. */
const ASK_EVERY_MS = 900_000;

const WITHOUT_WEEK =
  'Automatic minReplicas: Prometheus cannot tell the week before an HPA was first seen; its days are counted from now, and it is asked again every 15 minutes';

/** Knows the weeks of HPAs for one term of a leader, and keeps them for the next. */
export class KeptWeeks {
  readonly #options: KeptWeeksOptions;
  /** By namespace and name. */
  readonly #known = new Map<string, Map<string, KeptWeek>>();
  /** When the weeks of a namespace were kept. */
  readonly #keptAtMs = new Map<string, number>();
  readonly #unkept = new UnkeptNames();
  /** Of the weeks of all HPAs: they come from one Prometheus. */
  readonly #failures: FailureLog;

  constructor(options: KeptWeeksOptions) {
    this.#options = options;
    this.#failures = new FailureLog({
      logger: options.logger,
      failing: WITHOUT_WEEK,
      lineOf: () => ({ level: 'warning', message: WITHOUT_WEEK }),
      recovered: 'Automatic minReplicas: Prometheus tells the week before again',
    });
  }

  /** The week of an HPA, with what a Prometheus knows of the days before it was first seen, once that was read. */
  async of(
    hpa: Hpa,
    { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
  ): Promise<KeptWeek> {
    const { namespace, name, uid } = hpa.metadata;
    let known = this.#known.get(namespace)?.get(name);
    if (known?.hpa.metadata.uid !== uid) {
      known = await this.#read(hpa, dayOf(nowMs));
      const others = this.#known.get(namespace) ?? new Map<string, KeptWeek>();
      this.#known.set(namespace, others.set(name, known));
    }
    known.hpa = hpa;
    this.#askBefore(known, nowMs, signal);
    return known;
  }

  /** @returns whether it is kept */
  async keep(known: KeptWeek): Promise<boolean> {
    const { store, isDryRun, logger } = this.#options;
    if (isDryRun) return true;
    const { metadata, spec } = known.hpa;
    const { namespace, name, uid } = metadata;
    const names = new Set(metricGoals(spec).flatMap((goal) => goal?.metric ?? []));
    known.week = withMetricsOf(known.week, names);
    const text = formatWeek({ uid, week: known.week, lacksBefore: known.before !== 'known' });
    if (text === known.text) return true;
    try {
      await store.put(namespace, weekKey(name), text);
    } catch (error) {
      if (this.#unkept.failed(namespace, name))
        logger.error('Cannot keep the weeks of HPAs', error, { namespace, name });
      return false; // tried again later
    }
    this.#unkept.kept(namespace, name);
    known.text = text;
    return true;
  }

  /** Keeps what has risen in a namespace, all of it at once, for it is one object; namespaces at times of their own. */
  async keepNamespace(namespace: string, nowMs: number): Promise<void> {
    const keptAtMs = this.#keptAtMs.get(namespace);
    if (keptAtMs !== undefined && Math.abs(nowMs - keptAtMs) < KEEP_EVERY_MS) return;
    this.#keptAtMs.set(
      namespace,
      keptAtMs === undefined ? nowMs - spreadOf(namespace) * KEEP_EVERY_MS : nowMs,
    );
    if (keptAtMs === undefined) return;
    await Promise.all([...(this.#known.get(namespace)?.values() ?? [])].map((known) => this.keep(known)));
  }

  /** An HPA is no more. */
  async forget(namespace: string, name: string): Promise<void> {
    const { store, isDryRun } = this.#options;
    const others = this.#known.get(namespace);
    others?.delete(name);
    if (others?.size === 0) {
      this.#known.delete(namespace);
      this.#keptAtMs.delete(namespace);
    }
    this.#unkept.kept(namespace, name);
    if (!isDryRun) await store.put(namespace, weekKey(name), undefined);
  }

  async #read(hpa: Hpa, today: number): Promise<KeptWeek> {
    const { namespace, name, uid } = hpa.metadata;
    const text = await this.#options.store.get(namespace, weekKey(name));
    const record = text === undefined ? undefined : parseWeek(text);
    const isAsked = { before: 'missing', askedAtMs: Number.NEGATIVE_INFINITY } as const;
    if (record?.uid !== uid) return { hpa, week: emptyWeek(today), text: undefined, ...isAsked };
    return {
      hpa,
      week: record.week,
      text,
      ...isAsked,
      ...(!record.lacksBefore && { before: 'known' }),
    };
  }

  /** Has the days before the first be read, where they are missing; deciding does not wait for it. */
  #askBefore(known: KeptWeek, nowMs: number, signal: AbortSignal): void {
    const { weekBefore } = this.#options;
    if (known.before !== 'missing' || Math.abs(nowMs - known.askedAtMs) < ASK_EVERY_MS) return;
    const { hpa } = known;
    const { firstDay } = known.week;
    if (!weekBefore || dayOf(nowMs) - firstDay >= WEEK_DAYS) {
      known.before = 'known'; // as far as it will ever be
      return;
    }
    Object.assign(known, { before: 'asked', askedAtMs: nowMs });
    weekBefore(hpa, firstDay, signal).then(
      (before) => {
        known.week = joined(before, known.week, dayOf(nowMs));
        known.before = 'known';
        this.#failures.succeed();
      },
      (error: unknown) => {
        known.before = 'missing';
        if (signal.aborted) return;
        const { namespace, name } = hpa.metadata;
        this.#failures.fail(error, { hpa: `${namespace}/${name}`, error: describeError(error) });
      },
    );
  }
}

/** What was read of the days before, and what was measured since; what is too old to count would push out what is not. */
function joined(before: Week, since: Week, today: number): Week {
  let week = since;
  for (const [metric, days] of before.peaks) {
    for (const peak of days) if (peak.day >= today - WEEK_DAYS) week = withPeak(week, metric, peak);
  }
  return week;
}

/** What is kept of an HPA's week. */
interface WeekRecord {
  /** Of the HPA: one that was made again under its name begins again. */
  readonly uid: string;
  readonly week: Week;
  /** Whether what a Prometheus knows of the days before the first could not be read yet. */
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

/** A longer text is nobody's record. */
const LONGEST_RECORD = 64 * 1024;

/** Under which key the ConfigMap of a namespace keeps the week of an HPA: no HPA can be called that. */
export function weekKey(name: string): string {
  return `${name}${SUFFIX}`;
}

/** Whose key it is, be it of a week or not. */
export function hpaOfKey(key: string): string {
  return key.endsWith(SUFFIX) ? key.slice(0, -SUFFIX.length) : key;
}

const SUFFIX = '_week';

/** Writes a record as text; loads to six digits. */
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

/** Reads a record; `undefined` for what is none. */
export function parseWeek(text: string): WeekRecord | undefined {
  if (text.length > LONGEST_RECORD) return undefined;
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
