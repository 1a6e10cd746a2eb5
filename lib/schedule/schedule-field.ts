import { ScheduleError } from './schedule.ts';

/** What a field of a schedule may hold. */
export interface FieldKind {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** Names of the values, beginning with the first. */
  readonly valueNames?: readonly string[];
}

/** What one field of a schedule says. */
export interface ScheduleField {
  /** The values that it stands for, ascending, each once. */
  readonly values: readonly number[];
  /** Whether it restricts nothing: `*`, `?` or these with the step 1. A step such as `*\/2` restricts. */
  readonly isStar: boolean;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** The six fields in the order in which they are written. */
export const FIELD_KINDS = {
  second: { name: 'second', first: 0, last: 59 },
  minute: { name: 'minute', first: 0, last: 59 },
  hour: { name: 'hour', first: 0, last: 23 },
  dayOfMonth: { name: 'day of month', first: 1, last: 31 },
  month: { name: 'month', first: 1, last: 12, valueNames: MONTHS },
  dayOfWeek: { name: 'day of week', first: 0, last: 6, valueNames: WEEKDAYS },
} as const satisfies Readonly<Record<string, FieldKind>>;

/**
 * Reads a field as `robfig/cron` does, which Kubernetes' CronJob controller uses: `*`, `?`, `5`, `1-5`, `MON-FRI`, `*\/15`, `3/20`
 * (3, 23, 43 …), and lists of these, in which empty members count for nothing.
 *
 * @throws ScheduleError
 */
export function parseScheduleField(text: string, kind: FieldKind): ScheduleField {
  const ranges = text.split(',').filter((range) => range !== '');
  if (ranges.length === 0) throw new ScheduleError(`${kind.name} "${text}" holds no value`);
  const values = new Set<number>();
  let isStar = false;
  for (const range of ranges) {
    const { first, last, step, isStar: isWhole } = parseRange(range, kind);
    for (let value = first; value <= last; value += step) values.add(value);
    isStar ||= isWhole;
  }
  return { values: [...values].sort((a, b) => a - b), isStar };
}

function parseRange(
  text: string,
  kind: FieldKind,
): { first: number; last: number; step: number; isStar: boolean } {
  const [bounds = '', stepText, ...moreSteps] = text.split('/');
  const [firstText = '', lastText, ...moreBounds] = bounds.split('-');
  if (moreSteps.length > 0 || moreBounds.length > 0)
    throw new ScheduleError(`${kind.name} "${text}" has more than one step or more than two bounds`);
  const step = stepText === undefined ? 1 : parseNumber(stepText, `step of ${kind.name}`);
  if (step === 0) throw new ScheduleError(`step of ${kind.name} "${text}" is not positive`);
  if (bounds === '*' || bounds === '?')
    return { first: kind.first, last: kind.last, step, isStar: step === 1 };
  const first = parseValue(firstText, kind);
  const last =
    lastText !== undefined ? parseValue(lastText, kind) : stepText !== undefined ? kind.last : first;
  if (first > last) throw new ScheduleError(`${kind.name} "${text}" begins after its end`);
  return { first, last, step, isStar: false };
}

function parseValue(text: string, kind: FieldKind): number {
  const named = kind.valueNames?.indexOf(text.toLowerCase()) ?? -1;
  const value = named >= 0 ? kind.first + named : parseNumber(text, kind.name);
  if (value < kind.first || value > kind.last)
    throw new ScheduleError(`${kind.name} "${text}" is not between ${kind.first} and ${kind.last}`);
  return value;
}

function parseNumber(text: string, what: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new ScheduleError(`${what} "${text}" is not a number`);
  return Number(text);
}
