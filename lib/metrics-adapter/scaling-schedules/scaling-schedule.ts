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
export interface OneTimeEntry extends Valued {
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
