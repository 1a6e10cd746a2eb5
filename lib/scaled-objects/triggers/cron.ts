import { z } from 'zod';
import { parseSchedule } from '#lib/schedule/parse-schedule.ts';
import type { Schedule } from '#lib/schedule/schedule.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';
import { messageOf } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import { integer, parameter, text } from './parameters/parameter.ts';
import { defineTrigger, oneMetric, type Trigger } from './trigger.ts';

const parameters = z.object({
  timezone: parameter(text, 'Time zone of the schedules, by its IANA name.'),
  start: parameter(
    text,
    'Cron schedule of the start of the window, with the fields minute, hour, day of month, month and day of week.',
  ),
  end: parameter(text, 'Cron schedule of the end of the window, with the same fields.'),
  desiredReplicas: parameter(integer, 'Replicas during the window.'),
});

/** A time window: active from its start to just before its end. */
export function cronTrigger({ clock }: { readonly clock: Clock }): Trigger {
  return defineTrigger({
    types: ['cron'],
    scalerName: () => 'cronScaler',
    description: 'A time window. The value is desiredReplicas during the window, and 0 outside of it.',
    parameters,
    plan({ timezone, start, end, desiredReplicas }) {
      checkZone(timezone.trim());
      const startsAt = scheduleOf(start, timezone.trim(), 'start');
      const endsAt = scheduleOf(end, timezone.trim(), 'end');
      if (start === end) throw new Error('start and end can not have exactly same time input');
      if (desiredReplicas === 0) throw new Error('no desiredReplicas specified');
      const isWithin = () => isInWindow(startsAt, endsAt, clock.nowMs());
      return oneMetric({
        name: `cron-${timezone}-${nameOf(start)}-${nameOf(end)}`,
        query: {
          key: JSON.stringify(['cron', timezone, start, end, desiredReplicas]),
          description: `the window from ${start} to ${end} in ${timezone}`,
          run: async () => [{ value: isWithin() ? desiredReplicas : 0, labels: {} }],
        },
        target: 1,
        evaluate: (samples) => {
          const values = samples.map(({ value }) => value);
          return { values, isActive: values.some((value) => value !== 0) };
        },
      });
    },
  });
}

/**
 * Whether the next end is before the next start. A window that never starts is never active, and one that never ends is active
 * from its start on.
 */
function isInWindow(startsAt: Schedule, endsAt: Schedule, nowMs: number): boolean {
  const startMs = startsAt.next(nowMs);
  const endMs = endsAt.next(nowMs);
  if (startMs === undefined && startsAt.previous(nowMs + 1) === undefined) return false;
  return (endMs ?? Number.POSITIVE_INFINITY) <= (startMs ?? Number.POSITIVE_INFINITY);
}

function checkZone(name: string): void {
  try {
    TimeZone.named(name);
  } catch (cause) {
    throw new Error(`unable to load timezone: ${messageOf(cause)}`, {
      cause,
    });
  }
}

const FIELDS = 5;

function scheduleOf(schedule: string, timeZone: string, what: 'start' | 'end'): Schedule {
  try {
    const fields = schedule.trim().split(/\s+/).length;
    if (schedule.trim().startsWith('@') || fields !== FIELDS)
      throw new Error(`expected exactly ${FIELDS} fields, found ${fields}`);
    return parseSchedule(schedule, { timeZone, anchorMs: 0 });
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Error(`error parsing ${what} schedule: ${reason}`, { cause });
  }
}

function nameOf(schedule: string): string {
  return schedule
    .replaceAll(' ', '')
    .replaceAll('*', 'x')
    .replaceAll('/', 'Sl')
    .replaceAll('?', 'Qm')
    .replaceAll(',', 'Cm');
}
