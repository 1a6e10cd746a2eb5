import * as z from 'zod';
import type { NamespaceBudgetOptions } from '#lib/kubernetes/informer/namespace-budget.ts';
import type {
  InformedKind,
  SharedInformer,
  SharedInformers,
} from '#lib/kubernetes/informer/shared-informers.ts';
import { measureObject, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { ScheduleError } from '#lib/schedule/schedule.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';
import { toError } from '#lib/telemetry/error-text.ts';

/** API version of the kinds. */
export const SCALING_SCHEDULES = {
  apiVersion: 'zalando.org/v1',
  kinds: ['ScalingSchedule', 'ClusterScalingSchedule'],
} as const;

/** The first kind is namespaced. */
export type ScalingScheduleKind = (typeof SCALING_SCHEDULES.kinds)[number];

/** The cached part of a ScalingSchedule or ClusterScalingSchedule. */
export interface ScalingSchedule {
  readonly kind: ScalingScheduleKind;
  /** Empty for a ClusterScalingSchedule. */
  readonly namespace: string;
  readonly name: string;
  /** Duration of the ramps before and after each entry; `undefined` for the default. */
  readonly windowMs: number | undefined;
  readonly entries: readonly ScheduleEntry[];
  readonly isActive: boolean | undefined;
}

/** A time with a value. */
export type ScheduleEntry = OneTimeEntry | RepeatingEntry;

interface Valued {
  readonly value: number;
  /** Minimum duration. */
  readonly durationMs: number;
}

/** Occurs once. */
interface OneTimeEntry extends Valued {
  readonly type: 'OneTime';
  readonly startMs: number;
  readonly endMs: number | undefined;
}

/** Occurs on days of the week. */
export interface RepeatingEntry extends Valued {
  readonly type: 'Repeating';
  /** Of the day, in milliseconds. */
  readonly startOfDayMs: number;
  /** `undefined` where only the duration is set. */
  readonly endOfDayMs: number | undefined;
  /** 0 is Sunday. */
  readonly days: ReadonlySet<number>;
  /** `undefined` for the default, also for one that is not in the IANA database. */
  readonly timeZone: string | undefined;
}

/** As in messages and paths: `default/nightly`, or `nightly` for a ClusterScalingSchedule. */
export function keyOfSchedule({ namespace, name }: Pick<ScalingSchedule, 'namespace' | 'name'>): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

const MINUTE_MS = 60_000;
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
/** Of one object; one with more is refused as a whole, since ignored entries would scale down. */
const MAX_ENTRIES = 1_000;
const MAX_MINUTES = 366 * 24 * 60;

const DATE = z.iso.datetime({ offset: true });
const TIME = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/);
const VALUED = {
  durationMinutes: z.int().min(0).max(MAX_MINUTES).default(0),
  value: z.int(),
};

const ENTRY = z.discriminatedUnion('type', [
  z.object({ type: z.literal('OneTime'), date: DATE, endDate: DATE.nullish(), ...VALUED }),
  z.object({
    type: z.literal('Repeating'),
    period: z.object({
      startTime: TIME,
      endTime: z.union([z.literal(''), TIME]).nullish(),
      days: z.array(z.enum(DAYS)),
      timezone: z.string().default(''),
    }),
    ...VALUED,
  }),
]);

const SCHEDULE = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string().default('') }),
  spec: z.object({
    scalingWindowDurationMinutes: z.int().min(0).max(MAX_MINUTES).nullish(),
    schedules: z.array(ENTRY).max(MAX_ENTRIES),
  }),
  status: z.object({ active: z.boolean().optional() }).optional(),
});

/**
 * Reads a ScalingSchedule or ClusterScalingSchedule.
 *
 * @throws with the field that is invalid, or when it has too many values
 */
export function readScalingSchedule(value: unknown, kind: ScalingScheduleKind): ScalingSchedule {
  measureObject(propertyOf(value, 'spec')); // a schema would list each wrong field
  const read = SCHEDULE.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`${issue?.path.join('.') || 'object'} is invalid: ${issue?.message}`);
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

interface CachedSchedulesOptions {
  readonly informers: Pick<SharedInformers, 'get'>;
  readonly relistMs: number;
}

/** A schedule, or why it is invalid. */
type CachedSchedule =
  | ScalingSchedule
  | { readonly name: string; readonly namespace: string; readonly error: Error };

/** Of all objects of a kind in a namespace; evaluating an entry takes up to 10 µs, and caching it 400 bytes. */
const MAX_NAMESPACE_ENTRIES = 50_000;
const ENTRY_BYTES = 400;

const BUDGET: NamespaceBudgetOptions<CachedSchedule> = {
  maxBytes: MAX_NAMESPACE_ENTRIES * ENTRY_BYTES,
  sizeBytes: (schedule) => ('error' in schedule ? 0 : ENTRY_BYTES * schedule.entries.length),
  reduce({ name, namespace }) {
    const error = new Error(
      `the objects of this kind in the namespace together have more than ${MAX_NAMESPACE_ENTRIES} items in spec.schedules`,
    );
    return { name, namespace, error };
  },
};

/** Both kinds as informers cache them. */
const INFORMED_KINDS = SCALING_SCHEDULES.kinds.map((kind) => {
  const resource = resourceOfSchedules(kind);
  const decoder = () => (object: unknown) => decode(object, kind);
  return {
    kind,
    informed: {
      ...{ resource, versions: [resource.version], decoder, budget: BUDGET },
    } satisfies InformedKind<CachedSchedule>,
  };
});

/** Informers of ScalingSchedules and ClusterScalingSchedules; a kind without a definition has no objects. */
export class CachedSchedules implements FoundSchedules {
  readonly #informers: ReadonlyMap<ScalingScheduleKind, SharedInformer<CachedSchedule>>;

  constructor({ informers, relistMs }: CachedSchedulesOptions) {
    this.#informers = new Map(
      INFORMED_KINDS.map(({ kind, informed }) => [kind, informers.get(informed, { relistMs })]),
    );
  }

  start(): void {
    for (const informer of this.#informers.values()) informer.start();
  }

  find(kind: ScalingScheduleKind, key: string): ScalingSchedule | undefined {
    const informer = this.#informers.get(kind);
    const found = informer?.find(key);
    if (found && 'error' in found) throw new Error(`Cannot read ${kind} ${key}`, { cause: found.error });
    if (!found && !informer?.isSynced) throw new Error(`objects of kind ${kind} are not cached yet`);
    return found;
  }

  /** All valid schedules. */
  *values(): IterableIterator<ScalingSchedule> {
    for (const informer of this.#informers.values())
      for (const one of informer.values()) if (!('error' in one)) yield one;
  }
}

/** The resource of a kind of schedules. */
export function resourceOfSchedules(kind: ScalingScheduleKind) {
  const [group = '', version = ''] = SCALING_SCHEDULES.apiVersion.split('/');
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: kind === 'ScalingSchedule' };
}

function decode(object: unknown, kind: ScalingScheduleKind): CachedSchedule {
  try {
    return readScalingSchedule(object, kind);
  } catch (cause) {
    const metadata = propertyOf(object, 'metadata');
    const [name, namespace] = [propertyOf(metadata, 'name'), propertyOf(metadata, 'namespace')];
    const error = toError(cause);
    return { name: String(name), namespace: typeof namespace === 'string' ? namespace : '', error };
  }
}

export interface FoundSchedules {
  /** @throws when the schedule exists and is invalid, or when its kind is not cached yet */
  find(kind: ScalingScheduleKind, key: string): ScalingSchedule | undefined;
}
