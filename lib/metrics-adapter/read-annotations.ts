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
      /** Whether it is no more than a key that means nothing. */
      readonly isQuiet?: boolean;
    };

const ENTRY = z
  .object({
    type: z.enum(['Pods', 'Object', 'External']),
    metric: z.string().min(1),
    collector: z.string().min(1),
  })
  .catchall(z.union([z.string(), z.number(), z.boolean()]));

/** YAML takes long to read, and every change of the HPA has it read again. */
const MAX_LIST_LENGTH = 64 * 1024;
/** What makes YAML of a text; each that is wrong takes an error with its stack. */
const MARK = /[,:&*!?#[{\n]/g;
const MAX_MARKS = 5_000;
/** Of a key that configures a collector. */
const FORM = `${CONFIG_PREFIX}TYPE.METRIC.COLLECTOR/SETTING`;
/** So many keys that mean nothing are told. */
const MAX_UNREAD = 10;
/** So much of one is shown. */
const MAX_KEY_LENGTH = 100;

/**
 * What an HPA's annotations say of its collectors, one for each collector of a metric that they name. One that cannot
 * be read costs its metric alone.
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

/** The first of the settings of one collector, as what is wrong with one is wrong with all. */
function onceEach(keys: readonly string[]): readonly string[] {
  const firsts = new Map(keys.toReversed().map((key) => [key.slice(0, key.lastIndexOf('/')), key]));
  return keys.filter((key) => firsts.get(key.slice(0, key.lastIndexOf('/'))) === key).slice(0, MAX_UNREAD);
}

/** What is misspelt was to configure a metric, which is missing because of it: it is told as loudly as a wrong setting. */
function refused(key: string): ReadConfig {
  const rule = key.startsWith(CONFIG_PREFIX)
    ? `the type of a metric must be one of ${CONFIG_TYPES.join(', ')}`
    : `it must be ${LIST_KEY} or have the form ${FORM}`;
  return {
    type: undefined,
    metric: undefined,
    error: new Error(`Annotation ${key} configures nothing: ${rule}`),
  };
}

function unreadable(key: string): ReadConfig {
  const error = new Error(
    `Annotation ${key} is passed over: it must have the form ${FORM}; a metric whose name has a dot belongs in ${LIST_KEY}`,
  );
  return { type: undefined, metric: undefined, error, isQuiet: true };
}

function readList(text: string): readonly ReadConfig[] {
  const refuse = (why: string) => [
    { type: undefined, metric: undefined, error: new Error(`Annotation ${LIST_KEY} ${why}`) },
  ];
  if (text.length > MAX_LIST_LENGTH) return refuse(`must be no longer than ${MAX_LIST_LENGTH} characters`);
  if (hasMore(text.matchAll(MARK), MAX_MARKS))
    return refuse(`must have no more than ${MAX_MARKS} lines and characters of , : & * ! ? # [ {`);
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
      return refuse(`has an entry ${index + 1} whose ${field} cannot be used: ${ruleOf(field, entry)}`);
    }
    const { type, metric, collector, ...rest } = read.data;
    const settings = Object.entries(rest).map(
      ([name, value]) => [name, { value: String(value), place: `${place}, ${name}` }] as const,
    );
    return [attempt({ type, metric, collector }, new Map(settings))];
  });
}

/** What a field of an entry must be; where it is missing, what there is instead, as it may be misspelt. */
function ruleOf(field: string, entry: unknown): string {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return 'an entry is a map of settings';
  if (['type', 'metric', 'collector'].includes(field) && !Object.hasOwn(entry, field)) {
    const keys = Object.keys(entry).slice(0, MAX_UNREAD);
    return `it is missing; the entry has ${keys.map((key) => key.slice(0, MAX_KEY_LENGTH)).join(', ') || 'nothing'}`;
  }
  if (field === 'type') return 'it must be Pods, Object or External';
  if (field === 'metric' || field === 'collector') return 'it must be a name';
  return 'it must be a text, a number, true or false';
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

function hasMore(matches: Iterator<unknown>, most: number): boolean {
  for (let seen = 0; seen <= most; seen++) if (matches.next().done) return false;
  return true;
}

/** What the key of an annotation says: one setting of one collector of one metric. */
interface AnnotationKey {
  /** `undefined` for a type that there is not. */
  readonly type: HpaMetric['type'] | undefined;
  readonly metric: string;
  readonly collector: string;
  readonly setting: string;
}

/**
 * Reads `metric-config.TYPE.METRIC.COLLECTOR/SETTING`, whose type may be in capitals.
 *
 * @returns `undefined` for a key of another form, as one whose metric has a dot: these are the list's
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

/** What annotations say of how one metric is collected. */
export interface CollectorConfig {
  readonly type: HpaMetric['type'];
  readonly metric: string;
  readonly collector: string;
  /** Absent where the default counts. */
  readonly intervalMs?: number;
  /** Whatever its value: that it is there is what counts. */
  readonly perReplica: Setting | undefined;
  /** Every other setting, as it is written. */
  readonly settings: ReadonlyMap<string, Setting>;
}

/** A setting and where it stands, as errors name it. */
export interface Setting {
  readonly value: string;
  readonly place: string;
}

/** What is asked more often costs more than it tells. */
const MIN_INTERVAL_MS = 1_000;
const MAX_INTERVAL_MS = 86_400_000;
/** A setting is a query at most. */
const MAX_LENGTH = 64 * 1024;

/**
 * Makes the configuration of one collector of its settings.
 *
 * @throws an Error that names the place of a setting that cannot be used
 */
function collectorConfig(
  { type, metric, collector }: Pick<CollectorConfig, 'type' | 'metric' | 'collector'>,
  given: ReadonlyMap<string, Setting>,
): CollectorConfig {
  const settings = new Map(given);
  for (const { value, place } of settings.values())
    if (value.length > MAX_LENGTH)
      throw new Error(`${place} must be no longer than ${MAX_LENGTH} characters`);
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
