import * as z from 'zod/mini';
import { parseJson } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Week } from '../min-replicas/recommended-minimum.ts';

/** What is kept of an HPA's week. */
export interface WeekRecord {
  /** Of the HPA: one that was made again under its name begins again. */
  readonly uid: string;
  readonly week: Week;
  /** Whether what a Prometheus knows of the days before the first could not be read yet. */
  readonly lacksBefore?: boolean;
}

const day = z.int().check(z.nonnegative());
const RECORD = z.object({
  uid: z.string(),
  first: day,
  judged: z.optional(day),
  lacksBefore: z.optional(z.boolean()),
  peaks: z.record(
    z.string(),
    z
      .array(z.tuple([day, z.number().check(z.nonnegative()), z.int().check(z.positive())]))
      .check(z.maxLength(16)),
  ),
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
