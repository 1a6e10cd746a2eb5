import { z } from 'zod';
import { parseSourceUrl, type SourceUrl } from '#lib/sources/http/source-url.ts';
import { type JsonExtract, jsonExtract } from '#lib/sources/json/json-query.ts';
import type { Query } from '#lib/sources/query.ts';
import { parseDecimal } from '#lib/sources/sample.ts';
import { messageOf } from '#lib/telemetry/error-text.ts';
import { formatDuration, parseDurationMs } from '#lib/time/duration.ts';
import { type HpaMetric, nameOfMetric, type ScaledHpa } from '../collected-metrics.ts';
import type { CollectorConfig } from '../read-annotations.ts';

/** A metric that is to be collected, and everything that is said of it. */
export interface CollectorRequest {
  readonly hpa: ScaledHpa;
  readonly metric: HpaMetric;
  /** `undefined` where no annotation speaks of it. */
  readonly config: CollectorConfig | undefined;
}

/** A way to collect metrics. */
export interface MetricCollector {
  /** As annotations and the label `type` name it. */
  readonly name: string;
  /** Names of External metrics that mean this collector without a label `type`, as was usual once; also as that label beside annotations. */
  readonly legacyMetrics: readonly string[];
  readonly types: readonly HpaMetric['type'][];
  /** What annotations and labels may say to it, each with its description. */
  readonly settings: SettingsSchema;
  /** Whether a setting that is none of these means something nevertheless, as one that another names. */
  readonly takesAlso?: (name: string, settings: ReadonlyMap<string, SettingOrLabel>) => boolean;
  /** Whether a value is divided by the replicas of the HPA's target though no annotation says so. */
  readonly dividesByReplicas?: (metric: HpaMetric) => boolean;
  /** Whether all samples are served, as rows with labels of their own; by default the first alone. */
  readonly servesAll?: boolean;
  /** Whether a metric that no annotation speaks of is nevertheless its own, as by the kind of its object. */
  readonly claims?: (metric: HpaMetric) => boolean;
  /** Calls a listener whenever {@link queryOf} would say something else than before, for what no HPA says. */
  onChange?(listener: () => void): void;
  /** @throws an Error that says which annotation or label cannot be used, or what is missing */
  queryOf(request: CollectorRequest): Query;
}

/** Settings of a collector: the labels of the metric's selector, and over them those of annotations. */
export function settingsOf({ metric, config }: CollectorRequest): ReadonlyMap<string, SettingOrLabel> {
  const labels = Object.entries(metric.matchLabels).map(
    ([name, value]) => [name, { value, place: `Label ${name} of the metric's selector` }] as const,
  );
  return new Map([...labels, ...(config?.settings ?? [])]);
}

/** A value and where it stands, as errors name it. */
export interface SettingOrLabel {
  readonly value: string;
  readonly place: string;
}

/** The settings of a collector: what they say, and where each stands. */
export interface ReadSettings<S extends SettingsSchema> {
  readonly values: z.output<S>;
  /** `Annotation …` or `Label …`, as errors begin; the bare name of one that is not there. */
  place(name: string): string;
  /** All that there are, as they are written. */
  readonly all: ReadonlyMap<string, SettingOrLabel>;
}

/**
 * Reads the settings of a metric's collector: its annotations, and the labels of its selector where these say nothing.
 *
 * @throws an Error that names the annotation or label and the rule that it breaks
 */
export function readSettings<S extends SettingsSchema>(
  schema: S,
  request: CollectorRequest,
): ReadSettings<S> {
  const all = settingsOf(request);
  const place = (name: string) => all.get(name)?.place ?? `Setting ${name}`;
  const given = Object.keys(schema.shape).flatMap((name) => {
    const value = all.get(name)?.value;
    return value === undefined ? [] : [[name, value] as const];
  });
  const read = schema.safeParse(Object.fromEntries(given));
  if (read.success) return { values: read.data, place, all };
  const [issue] = read.error.issues;
  const name = String(issue?.path[0] ?? '');
  if (all.has(name)) throw new Error(`${place(name)} ${issue?.message ?? 'cannot be used'}`);
  throw new Error(`Setting ${name} is missing of metric ${nameOfMetric(request.metric)}`);
}

/** What the settings of a collector may be; each is written as text, and its error goes behind its name. */
type SettingsSchema = z.ZodObject<Record<string, z.ZodType<unknown, string | undefined>>>;

const SHOWN_LENGTH = 50;

/** Any text but an empty one. */
export const text = z.string().refine((value) => value.trim() !== '', { error: 'must not be empty' });

/** One of these words. */
export function choice<const W extends string>(words: readonly [W, ...W[]]) {
  return z.enum(words, { error: ({ input }) => `must be ${words.join(', ')}, not ${shown(input)}` });
}

/** A whole number in a range. */
export function wholeNumber(least: number, most: number) {
  return convert((value) => {
    const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= least && number <= most ? number : undefined;
  }, `a whole number from ${least} to ${most}`);
}

/** A number in a range. */
export function numberIn(least: number, most: number) {
  return convert((value) => {
    const number = parseDecimal(value) ?? Number.NaN;
    return number >= least && number <= most ? number : undefined;
  }, `a number from ${least} to ${most}`);
}

/** A duration as Go writes it, in a range, as milliseconds. */
export function duration(leastMs: number, mostMs: number) {
  return convert(
    (value) => {
      const ms = parseDurationMs(value);
      return ms !== undefined && ms >= leastMs && ms <= mostMs ? ms : undefined;
    },
    `a duration of ${formatDuration(leastMs)} to ${formatDuration(mostMs)}, as in 30s`,
  );
}

/** Where a source is, and the credentials that its URL holds; an error never shows it. */
export const sourceUrl = z.string().transform((value, context): SourceUrl => {
  const read = parseSourceUrl(value);
  if (typeof read !== 'string') return read;
  context.addIssue({ code: 'custom', message: read });
  return z.NEVER;
});

/** Several texts of which each is one, separated by commas. */
export function list(each: RegExp, rule: string) {
  return z.string().transform((value, context): readonly string[] => {
    const entries = value.split(',').map((entry) => entry.trim());
    const wrong = entries.find((entry) => !each.test(entry));
    if (wrong === undefined) return entries;
    context.addIssue({ code: 'custom', message: `must be ${rule}, not ${shown(wrong)}` });
    return z.NEVER;
  });
}

function convert<T>(read: (value: string) => T | undefined, rule: string) {
  return z.string().transform((value, context): T => {
    const result = read(value);
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message: `must be ${rule}, not ${shown(value)}` });
    return z.NEVER;
  });
}

function shown(value: unknown): string {
  return JSON.stringify(String(value).slice(0, SHOWN_LENGTH));
}

/** What says which number of a JSON document counts. */
export const jsonSettings = {
  'json-key': text
    .optional()
    .describe('JSONPath of the number, as in `$.queue.length`; this or `json-eval`.'),
  'json-eval': text
    .optional()
    .describe('Expression over the document, as in `$.busy / $.workers * 100`; this or `json-key`.'),
  aggregator: choice(['avg', 'min', 'max', 'sum'])
    .optional()
    .describe('Combines several numbers: `avg`, `min`, `max` or `sum`.'),
};

const schema = z.object(jsonSettings);

/** @throws an Error that names the setting that cannot be used */
export function extractOf(
  { values, place }: Pick<ReadSettings<typeof schema>, 'values' | 'place'>,
  { metric }: CollectorRequest,
): JsonExtract {
  const { 'json-key': path, 'json-eval': expression, aggregator } = values;
  if (path !== undefined && expression !== undefined)
    throw new Error(`${place('json-eval')} and ${place('json-key')} exclude each other`);
  if (path === undefined && expression === undefined)
    throw new Error(`Setting json-key or json-eval is missing of metric ${nameOfMetric(metric)}`);
  const form = path === undefined ? 'expression' : 'path';
  try {
    return jsonExtract({ form, text: path ?? expression ?? '', aggregator });
  } catch (error) {
    const name = form === 'path' ? 'json-key' : 'json-eval';
    throw new Error(`${place(name)} ${messageOf(error)}`);
  }
}
