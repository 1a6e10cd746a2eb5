import * as z from 'zod';
import type {
  InformedKind,
  SharedInformer,
  SharedInformers,
} from '#lib/kubernetes/informer/shared-informers.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { ScheduleError } from '#lib/schedule/schedule.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';
import { toError } from '#lib/telemetry/error-text.ts';

/** Where the kinds are defined. */
export const SCALING_SCHEDULES = {
  apiVersion: 'zalando.org/v1',
  kinds: ['ScalingSchedule', 'ClusterScalingSchedule'],
} as const;

/** One of the kinds; the first is of a namespace. */
export type ScalingScheduleKind = (typeof SCALING_SCHEDULES.kinds)[number];

/** What is kept of a ScalingSchedule or ClusterScalingSchedule. */
export interface ScalingSchedule {
  readonly kind: ScalingScheduleKind;
  /** Empty for one of the cluster. */
  readonly namespace: string;
  readonly name: string;
  /** For how long a value is raised to before its time, and lowered from after it; `undefined` where the default counts. */
  readonly windowMs: number | undefined;
  readonly entries: readonly ScheduleEntry[];
  readonly isActive: boolean | undefined;
}

/** When a value counts. */
export type ScheduleEntry = OneTimeEntry | RepeatingEntry;

interface Valued {
  readonly value: number;
  /** How long it counts at least. */
  readonly durationMs: number;
}

/** Counts once. */
interface OneTimeEntry extends Valued {
  readonly type: 'OneTime';
  readonly startMs: number;
  readonly endMs: number | undefined;
}

/** Counts on days of the week. */
export interface RepeatingEntry extends Valued {
  readonly type: 'Repeating';
  /** Of the day, in milliseconds. */
  readonly startOfDayMs: number;
  /** `undefined` where only the duration says it. */
  readonly endOfDayMs: number | undefined;
  /** 0 is Sunday. */
  readonly days: ReadonlySet<number>;
  /** `undefined` for the default, as for one that is not in the IANA database. */
  readonly timeZone: string | undefined;
}

/** As messages and paths name it: `default/nightly`, or `nightly` for one of the cluster. */
export function keyOfSchedule({ namespace, name }: Pick<ScalingSchedule, 'namespace' | 'name'>): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

const MINUTE_MS = 60_000;
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
/** Of one object; more are refused as a whole, for what is left out would be scaled down. */
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

/** What caching schedules needs. */
interface FollowedSchedulesOptions {
  readonly informers: Pick<SharedInformers, 'get'>;
  readonly relistMs: number;
}

/** A schedule, or why it cannot be used. */
type Followed =
  | ScalingSchedule
  | { readonly name: string; readonly namespace: string; readonly error: Error };

/** Both kinds as informers cache them. */
const INFORMED_KINDS = SCALING_SCHEDULES.kinds.map((kind) => {
  const resource = resourceOfSchedules(kind);
  const decoder = () => (object: unknown) => followed(object, kind);
  return {
    kind,
    informed: { resource, versions: [resource.version], decoder } satisfies InformedKind<Followed>,
  };
});

/** The ScalingSchedules and ClusterScalingSchedules of the cluster, kept current; one that is not defined is not there. */
export class FollowedSchedules implements FoundSchedules {
  readonly #informers: ReadonlyMap<ScalingScheduleKind, SharedInformer<Followed>>;

  constructor({ informers, relistMs }: FollowedSchedulesOptions) {
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
    if (found && 'error' in found) throw new Error(`Cannot use ${kind} ${key}`, { cause: found.error });
    if (!found && !informer?.isSynced) throw new Error(`Objects of kind ${kind} are not known yet`);
    return found;
  }

  /** Those that can be used. */
  *values(): IterableIterator<ScalingSchedule> {
    for (const informer of this.#informers.values())
      for (const one of informer.values()) if (!('error' in one)) yield one;
  }
}

/** Where the API server serves a kind of schedules. */
export function resourceOfSchedules(kind: ScalingScheduleKind) {
  const [group = '', version = ''] = SCALING_SCHEDULES.apiVersion.split('/');
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: kind === 'ScalingSchedule' };
}

function followed(object: unknown, kind: ScalingScheduleKind): Followed {
  try {
    return readScalingSchedule(object, kind);
  } catch (cause) {
    const metadata = propertyOf(object, 'metadata');
    const [name, namespace] = [propertyOf(metadata, 'name'), propertyOf(metadata, 'namespace')];
    const error = toError(cause);
    return { name: String(name), namespace: typeof namespace === 'string' ? namespace : '', error };
  }
}

/** Schedules that are there now. */
export interface FoundSchedules {
  /** @throws when the schedule is there and cannot be used, or when it is not known yet */
  find(kind: ScalingScheduleKind, key: string): ScalingSchedule | undefined;
}
