import * as z from 'zod/mini';
import { ScheduleError } from '#lib/schedule/schedule.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';
import type { ScalingSchedule, ScalingScheduleKind, ScheduleEntry } from './scaling-schedule.ts';

const MINUTE_MS = 60_000;
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
/** Of one object; more are refused as a whole, for what is left out would be scaled down. */
const MAX_ENTRIES = 1_000;
const MAX_MINUTES = 366 * 24 * 60;

const DATE = z.iso.datetime({ offset: true });
const TIME = z.string().check(z.regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/));
const VALUED = {
  durationMinutes: z._default(z.int().check(z.gte(0), z.lte(MAX_MINUTES)), 0),
  value: z.int(),
};

const ENTRY = z.discriminatedUnion('type', [
  z.object({ type: z.literal('OneTime'), date: DATE, endDate: z.nullish(DATE), ...VALUED }),
  z.object({
    type: z.literal('Repeating'),
    period: z.object({
      startTime: TIME,
      endTime: z.nullish(z.union([z.literal(''), TIME])),
      days: z.array(z.enum(DAYS)),
      timezone: z._default(z.string(), ''),
    }),
    ...VALUED,
  }),
]);

const SCHEDULE = z.object({
  metadata: z.object({ name: z.string(), namespace: z._default(z.string(), '') }),
  spec: z.object({
    scalingWindowDurationMinutes: z.nullish(z.int().check(z.gte(0), z.lte(MAX_MINUTES))),
    schedules: z.array(ENTRY).check(z.maxLength(MAX_ENTRIES)),
  }),
  status: z.optional(z.object({ active: z.optional(z.boolean()) })),
});

/**
 * Takes what the API server sent for a ScalingSchedule or ClusterScalingSchedule.
 *
 * @throws when it cannot be used, naming the field
 */
export function readScalingSchedule(value: unknown, kind: ScalingScheduleKind): ScalingSchedule {
  const read = SCHEDULE.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`${issue?.path.join('.') || 'it'} cannot be used: ${issue?.message}`);
  }
  const { metadata, spec, status } = read.data;
  const { scalingWindowDurationMinutes: minutes } = spec;
  return {
    ...{ kind, ...metadata },
    windowMs: minutes === null || minutes === undefined ? undefined : minutes * MINUTE_MS,
    entries: spec.schedules.map(entryOf),
    isActive: status?.active,
  };
}

function entryOf(entry: z.infer<typeof ENTRY>): ScheduleEntry {
  const valued = { value: entry.value, durationMs: entry.durationMinutes * MINUTE_MS };
  if (entry.type === 'OneTime') {
    const endMs = entry.endDate ? Date.parse(entry.endDate) : undefined;
    return { type: 'OneTime', startMs: Date.parse(entry.date), endMs, ...valued };
  }
  const { startTime, endTime, days, timezone } = entry.period;
  return {
    type: 'Repeating',
    startOfDayMs: timeOfDay(startTime),
    endOfDayMs: endTime ? timeOfDay(endTime) : undefined,
    days: new Set(days.map((day) => DAYS.indexOf(day))),
    timeZone: isZone(timezone) ? timezone : undefined,
    ...valued,
  };
}

function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return (hours * 60 + minutes) * MINUTE_MS;
}

function isZone(name: string): boolean {
  try {
    TimeZone.named(name);
    return true;
  } catch (error) {
    if (error instanceof ScheduleError) return false;
    throw error;
  }
}
