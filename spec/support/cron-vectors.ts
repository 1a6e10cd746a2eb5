import { z } from 'zod';
import { parseSchedule } from '#lib/schedule/parse-schedule.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';

const moment = z.string().refine((text) => Number.isFinite(Date.parse(text)), 'it is no time');
const vectorSchema = z.object({
  schedule: z.string(),
  timeZone: z.string().optional(),
  from: moment.optional(),
  next: z.array(moment).optional(),
  error: z.string().optional(),
});

/** A schedule and robfig/cron's result for it: the activations after a time, or an error. */
export type CronVector = Readonly<z.infer<typeof vectorSchema>>;

/** The deliberate differences, named as in docs/reference/cron-hpa.md. */
export type CronDifference = 'skipped-time' | 'repeated-time' | 'uneven-change' | 'five-fields';

export const CRON_DIFFERENCES: readonly CronDifference[] = [
  'skipped-time',
  'repeated-time',
  'uneven-change',
  'five-fields',
];

/** How our schedule compares with a vector. */
export interface CronComparison {
  readonly outcome: 'agrees' | 'differs deliberately' | 'differs';
  readonly differences: readonly CronDifference[];
  readonly ours: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The reference omits the day of a change at midnight, and the day after a change that is not a whole hour. */
const AFTER_UNEVEN_CHANGE_MS = 48 * HOUR_MS;
/** The number of activations in a vector, unless there are fewer. */
const RECORDED = 4;

/**
 * Reads a file of vectors, one JSON object a line.
 *
 * @throws {Error} with the line number and the cause
 */
export function parseCronVectors(text: string): readonly CronVector[] {
  const vectors = text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [vectorOf(line, `line ${index + 1}`)]));
  if (vectors.length === 0) throw new Error('there is no schedule in it, one a line as JSON');
  return vectors;
}

function vectorOf(line: string, place: string): CronVector {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new Error(`${place} is no JSON`, { cause: error });
  }
  const { success, data, error } = vectorSchema.safeParse(value);
  if (success) return data;
  const [problem] = error.issues;
  const path = problem?.path.join('.') || 'it';
  throw new Error(`${place} is no recorded schedule: ${path}: ${problem?.message}`, { cause: error });
}

/** Compares our activations with the recorded ones and names the reason of each difference. */
export function compareCronVector(vector: CronVector): CronComparison {
  const { schedule, timeZone = 'UTC', from = '2026-01-01T00:00:00Z' } = vector;
  let ours: readonly number[];
  try {
    ours = activationsAfter(Date.parse(from), schedule, timeZone);
  } catch (error) {
    const text = String(error);
    return { outcome: vector.error === undefined ? 'differs' : 'agrees', differences: [], ours: text };
  }
  const shown = ours.map((atMs) => new Date(atMs).toISOString()).join(' ');
  if (vector.error !== undefined) {
    const isFive =
      schedule.trim().split(/\s+/).length === 5 && vector.error.startsWith('expected exactly 6 fields');
    return isFive
      ? { outcome: 'differs deliberately', differences: ['five-fields'], ours: shown }
      : { outcome: 'differs', differences: [], ours: shown };
  }
  const [, ownZone = timeZone] = /^(?:CRON_)?TZ=(\S+)/.exec(schedule) ?? [];
  const theirs = (vector.next ?? []).map((text) => Date.parse(text));
  const reasons = differencesOf(ours, theirs, TimeZone.named(ownZone));
  if (reasons.length === 0) return { outcome: 'agrees', differences: [], ours: shown };
  const named = reasons.filter((reason) => reason !== undefined);
  const outcome = named.length === reasons.length ? 'differs deliberately' : 'differs';
  return { outcome, differences: [...new Set(named)], ours: shown };
}

function activationsAfter(fromMs: number, text: string, timeZone: string): number[] {
  const schedule = parseSchedule(text, { timeZone, anchorMs: fromMs });
  const activations: number[] = [];
  let atMs = schedule.next(fromMs);
  for (; atMs !== undefined && activations.length < RECORDED; atMs = schedule.next(atMs))
    activations.push(atMs);
  return activations;
}

/** The reason of each activation that only one of the lists contains, up to the end of the shorter one. */
function differencesOf(
  ours: readonly number[],
  theirs: readonly number[],
  zone: TimeZone,
): (CronDifference | undefined)[] {
  const lastOf = (list: readonly number[]) =>
    list.length < RECORDED ? Number.POSITIVE_INFINITY : (list.at(-1) ?? Number.POSITIVE_INFINITY);
  const untilMs = Math.min(lastOf(ours), lastOf(theirs));
  const onlyOurs = ours.filter((atMs) => atMs <= untilMs && !theirs.includes(atMs));
  const onlyTheirs = theirs.filter((atMs) => atMs <= untilMs && !ours.includes(atMs));
  return [
    ...onlyOurs.map((atMs) => (isAfterGap(atMs, zone) ? 'skipped-time' : afterUnevenChange(atMs, zone))),
    ...onlyTheirs.map((atMs) => (isSecondPass(atMs, zone) ? 'repeated-time' : afterUnevenChange(atMs, zone))),
  ];
}

function isAfterGap(atMs: number, zone: TimeZone): boolean {
  return offsetOf(atMs, zone) > offsetOf(atMs - 1, zone);
}

function isSecondPass(atMs: number, zone: TimeZone): boolean {
  const { startMs, offsetMs } = zone.segmentAt(atMs);
  return atMs + offsetMs < startMs + offsetOf(startMs - 1, zone);
}

/** After a change that is not a whole hour or that skips midnight. */
function afterUnevenChange(atMs: number, zone: TimeZone): CronDifference | undefined {
  const { startMs, offsetMs } = zone.segmentAt(atMs);
  const beforeMs = offsetOf(startMs - 1, zone);
  const skipsMidnight = daysOf(startMs + offsetMs) > daysOf(startMs - 1 + beforeMs);
  const isUneven = (offsetMs - beforeMs) % HOUR_MS !== 0 || (offsetMs > beforeMs && skipsMidnight);
  return isUneven && atMs - startMs < AFTER_UNEVEN_CHANGE_MS ? 'uneven-change' : undefined;
}

function daysOf(civilMs: number): number {
  return Math.floor(civilMs / DAY_MS);
}

function offsetOf(atMs: number, zone: TimeZone): number {
  return zone.segmentAt(atMs).offsetMs;
}
