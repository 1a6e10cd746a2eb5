import * as z from 'zod';
import { readYaml } from '#lib/kubernetes/read-yaml.ts';
import { toError } from '#lib/telemetry/error-text.ts';
import { formatDuration, parseDurationMs } from '#lib/time/duration.ts';
import {
  CONFIG_PREFIX,
  CONFIG_TYPES,
  type HpaMetric,
  isMisspeltConfigKey,
  LIST_KEY,
} from './collected-metrics.ts';

/** A configuration, or why there is none. */
export type ReadConfig =
  | { readonly config: CollectorConfig }
  | {
      readonly type: HpaMetric['type'] | undefined;
      readonly metric: string | undefined;
      readonly error: Error;
      /** Whether it is merely an unknown key. */
      readonly isQuiet?: boolean;
    };

const ENTRY = z
  .object({
    type: z.enum(['Pods', 'Object', 'External']),
    metric: z.string().min(1),
    collector: z.string().min(1),
  })
  .catchall(z.union([z.string(), z.number(), z.boolean()]));

/** YAML is slow to parse, and is parsed after every change of the HPA. */
const MAX_LIST_LENGTH = 64 * 1024;
/** The structure of YAML; each error takes an Error with its stack. */
const MARK = /[,:&*!?#[{\n]/g;
const MAX_MARKS = 5_000;
/** Form of a key that configures a collector. */
const FORM = `${CONFIG_PREFIX}TYPE.METRIC.COLLECTOR/SETTING`;
/** Maximum number of unknown keys to report. */
const MAX_UNREAD = 10;
/** Longer ones are truncated in messages. */
const MAX_KEY_LENGTH = 100;

/**
 * Reads the configurations in an HPA's annotations, one for each collector of a metric. An invalid one affects its
 * metric alone.
 */
export function readAnnotations(annotations: Readonly<Record<string, string>>): readonly ReadConfig[] {
  const grouped = new Map<
    string,
    { of: Omit<CollectorConfig, 'settings' | 'perReplica'>; settings: Map<string, Setting> }
  >();
  const unread: string[] = [];
  const misspelt: string[] = [];
  for (const [key, value] of Object.entries(annotations)) {
    const parsed = parseAnnotationKey(key);
    if (!parsed) {
      if (key.startsWith(CONFIG_PREFIX)) unread.push(key);
      else if (isMisspeltConfigKey(key)) misspelt.push(key);
      continue;
    }
    const { setting, type, ...named } = parsed;
    if (type === undefined) {
      misspelt.push(key);
      continue;
    }
    const of = { type, ...named };
    const name = JSON.stringify(of);
    const group = grouped.get(name) ?? { of, settings: new Map<string, Setting>() };
    group.settings.set(setting, { value, place: `Annotation ${key}` });
    grouped.set(name, group);
  }
  const configs: ReadConfig[] = [...grouped.values()].map(({ of, settings }) => attempt(of, settings));
  configs.push(...unread.slice(0, MAX_UNREAD).map(unreadable), ...onceEach(misspelt).map(refused));
  const list = annotations[LIST_KEY];
  return list === undefined ? configs : [...configs, ...readList(list)];
}

/** The first of the settings of one collector, since an error of one applies to all. */
function onceEach(keys: readonly string[]): readonly string[] {
  const firsts = new Map(keys.toReversed().map((key) => [key.slice(0, key.lastIndexOf('/')), key]));
  return keys.filter((key) => firsts.get(key.slice(0, key.lastIndexOf('/'))) === key).slice(0, MAX_UNREAD);
}

/** A misspelled key was meant to configure a metric, which is now missing: it is reported like a wrong setting. */
function refused(key: string): ReadConfig {
  const rule = key.startsWith(CONFIG_PREFIX)
    ? `the type of a metric must be one of ${CONFIG_TYPES.join(', ')}`
    : `the key must be ${LIST_KEY} or have the form ${FORM}`;
  return {
    type: undefined,
    metric: undefined,
    error: new Error(`Annotation ${key} configures nothing: ${rule}`),
  };
}

function unreadable(key: string): ReadConfig {
  const error = new Error(
    `Annotation ${key} is ignored: the key must have the form ${FORM}; configure a metric with a dot in its name by ${LIST_KEY}`,
  );
  return { type: undefined, metric: undefined, error, isQuiet: true };
}

function readList(text: string): readonly ReadConfig[] {
  const refuse = (why: string) => [
    { type: undefined, metric: undefined, error: new Error(`Annotation ${LIST_KEY} ${why}`) },
  ];
  if (text.length > MAX_LIST_LENGTH) return refuse(`must have at most ${MAX_LIST_LENGTH} characters`);
  if (hasMore(text.matchAll(MARK), MAX_MARKS))
    return refuse(`must have at most ${MAX_MARKS} lines and characters of , : & * ! ? # [ {`);
  let list: unknown;
  try {
    list = readYaml(text);
  } catch {
    return refuse('must be YAML without aliases');
  }
  if (!Array.isArray(list)) return refuse('must be a list of collectors');
  return list.flatMap((entry: unknown, index): readonly ReadConfig[] => {
    const read = ENTRY.safeParse(entry);
    const place = `Annotation ${LIST_KEY}, entry ${index + 1}`;
    if (!read.success) {
      const [issue] = read.error.issues;
      const field = String(issue?.path[0] ?? 'form').slice(0, MAX_KEY_LENGTH);
      return refuse(`has an invalid ${field} in entry ${index + 1}: ${ruleOf(field, entry)}`);
    }
    const { type, metric, collector, ...rest } = read.data;
    const settings = Object.entries(rest).map(
      ([name, value]) => [name, { value: String(value), place: `${place}, ${name}` }] as const,
    );
    return [attempt({ type, metric, collector }, new Map(settings))];
  });
}

/** The rule of a field of an entry; for a missing one, the existing fields, as it may be misspelled. */
function ruleOf(field: string, entry: unknown): string {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return 'it must be a map of settings';
  if (['type', 'metric', 'collector'].includes(field) && !Object.hasOwn(entry, field)) {
    const keys = Object.keys(entry).slice(0, MAX_UNREAD);
    return `it is missing; the entry has ${keys.map((key) => key.slice(0, MAX_KEY_LENGTH)).join(', ') || 'nothing'}`;
  }
  if (field === 'type') return 'it must be Pods, Object or External';
  if (field === 'metric' || field === 'collector') return 'it must be a name';
  return 'it must be a string, a number or a boolean';
}

function attempt(
  of: Pick<CollectorConfig, 'type' | 'metric' | 'collector'>,
  settings: ReadonlyMap<string, Setting>,
): ReadConfig {
  try {
    return { config: collectorConfig(of, settings) };
  } catch (error) {
    return {
      type: of.type,
      metric: of.metric,
      error: toError(error),
    };
  }
}

function hasMore(matches: Iterator<unknown>, max: number): boolean {
  for (let count = 0; count <= max; count++) if (matches.next().done) return false;
  return true;
}

/** A parsed key: one setting of one collector of one metric. */
interface AnnotationKey {
  /** `undefined` for an unknown type. */
  readonly type: HpaMetric['type'] | undefined;
  readonly metric: string;
  readonly collector: string;
  readonly setting: string;
}

/**
 * Parses `metric-config.TYPE.METRIC.COLLECTOR/SETTING`, whose type may be in capitals.
 *
 * @returns `undefined` for a key of another form, also for a metric with a dot: these belong to the list
 */
export function parseAnnotationKey(key: string): AnnotationKey | undefined {
  if (!key.startsWith(CONFIG_PREFIX)) return undefined;
  const [left = '', setting, ...more] = key.split('/');
  const [, type = '', metric = '', collector = '', ...dots] = left.split('.');
  if (setting === undefined || more.length > 0 || dots.length > 0) return undefined;
  if (metric === '' || collector === '' || setting === '') return undefined;
  return { type: TYPES.get(type.toLowerCase()), metric, collector, setting };
}

const TYPES: ReadonlyMap<string, HpaMetric['type']> = new Map([
  ['pods', 'Pods'],
  ['object', 'Object'],
  ['external', 'External'],
]);

/** The configuration of one metric in annotations. */
export interface CollectorConfig {
  readonly type: HpaMetric['type'];
  readonly metric: string;
  readonly collector: string;
  /** Absent for the default. */
  readonly intervalMs?: number;
  /** Its presence counts, whatever its value. */
  readonly perReplica: Setting | undefined;
  /** All other settings, as they are written. */
  readonly settings: ReadonlyMap<string, Setting>;
}

/** A setting and its origin in errors. */
export interface Setting {
  readonly value: string;
  readonly place: string;
}

/** More frequent polls cost more than they are worth. */
const MIN_INTERVAL_MS = 1_000;
const MAX_INTERVAL_MS = 86_400_000;
/** The longest setting is a query. */
const MAX_LENGTH = 64 * 1024;

/**
 * Makes the configuration of one collector of its settings.
 *
 * @throws an Error with the origin of an invalid setting
 */
function collectorConfig(
  { type, metric, collector }: Pick<CollectorConfig, 'type' | 'metric' | 'collector'>,
  given: ReadonlyMap<string, Setting>,
): CollectorConfig {
  const settings = new Map(given);
  for (const { value, place } of settings.values())
    if (value.length > MAX_LENGTH) throw new Error(`${place} must have at most ${MAX_LENGTH} characters`);
  const interval = settings.get('interval');
  const perReplica = settings.get('per-replica');
  settings.delete('per-replica');
  settings.delete('interval');
  const intervalMs = interval && intervalOf(interval);
  return { type, metric, collector, perReplica, settings, ...(intervalMs ? { intervalMs } : {}) };
}

/** @returns 0 for the default */
function intervalOf({ value, place }: Setting): number {
  const intervalMs = parseDurationMs(value);
  if (intervalMs === 0) return 0;
  if (intervalMs === undefined || intervalMs < MIN_INTERVAL_MS || intervalMs > MAX_INTERVAL_MS) {
    const range = `${formatDuration(MIN_INTERVAL_MS)} to ${formatDuration(MAX_INTERVAL_MS)}`;
    throw new Error(
      `${place} must be a duration of ${range}, as in 30s, not ${JSON.stringify(value.slice(0, 50))}`,
    );
  }
  return intervalMs;
}
