import { z } from 'zod';
import { parseSourceUrl, type SourceUrl } from '#lib/sources/http/source-url.ts';
import { type JsonExtract, jsonExtract } from '#lib/sources/json/json-query.ts';
import type { Query } from '#lib/sources/query.ts';
import { parseDecimal } from '#lib/sources/sample.ts';
import { messageOf } from '#lib/telemetry/error-text.ts';
import { formatDuration, parseDurationMs } from '#lib/time/duration.ts';
import { type HpaMetric, nameOfMetric, type ScaledHpa } from '../collected-metrics.ts';
import type { CollectorConfig } from '../read-annotations.ts';

/** A metric to collect, and its configuration. */
export interface CollectorRequest {
  readonly hpa: ScaledHpa;
  readonly metric: HpaMetric;
  /** `undefined` without an annotation for it. */
  readonly config: CollectorConfig | undefined;
}

/** A way to collect metrics. */
export interface MetricCollector {
  /** Its name in annotations and the label `type`. */
  readonly name: string;
  /**
   * Names of External metrics that imply this collector without a label `type`, as in earlier versions; also with that
   * label beside annotations.
   */
  readonly legacyMetrics: readonly string[];
  readonly types: readonly HpaMetric['type'][];
  /** Settings in annotations and labels, each with its description. */
  readonly settings: SettingsSchema;
  /** Whether an additional setting is meaningful, such as one that another setting refers to. */
  readonly takesAlso?: (name: string, settings: ReadonlyMap<string, SettingOrLabel>) => boolean;
  /** Whether a value is divided by the replicas of the HPA's target by default. */
  readonly dividesByReplicas?: (metric: HpaMetric) => boolean;
  /** Whether all samples are served, as rows with their own labels; by default the first alone. */
  readonly servesAll?: boolean;
  /** Whether a metric without annotations belongs to it, for example by the kind of its object. */
  readonly claims?: (metric: HpaMetric) => boolean;
  /** Calls a listener whenever {@link queryOf} changes for a reason outside HPAs. */
  onChange?(listener: () => void): void;
  /** @throws an Error with the annotation or label that is invalid, or the setting that is missing */
  queryOf(request: CollectorRequest): Query;
}

/** Settings of a collector: labels of the metric's selector, overridden by annotations. */
export function settingsOf({ metric, config }: CollectorRequest): ReadonlyMap<string, SettingOrLabel> {
  const labels = Object.entries(metric.matchLabels).map(
    ([name, value]) => [name, { value, place: `Label ${name} of the metric's selector` }] as const,
  );
  return new Map([...labels, ...(config?.settings ?? [])]);
}

/** A value and its origin in errors. */
export interface SettingOrLabel {
  readonly value: string;
  readonly place: string;
}

/** Settings of a collector: parsed values and origins. */
export interface ReadSettings<S extends SettingsSchema> {
  readonly values: z.output<S>;
  /** `Annotation …` or `Label …`, with which errors begin; the bare name of an absent setting. */
  place(name: string): string;
  /** All settings as they are written. */
  readonly all: ReadonlyMap<string, SettingOrLabel>;
}

/**
 * Parses the settings of a metric's collector: its annotations, and for absent ones the labels of its selector.
 *
 * @throws an Error with the annotation or label and the rule that it breaks
 */
export function readSettings<S extends SettingsSchema>(
  schema: S,
  request: CollectorRequest,
): ReadSettings<S> {
  const all = settingsOf(request);
  const place = (name: string) => all.get(name)?.place ?? `The setting "${name}"`;
  const given = Object.keys(schema.shape).flatMap((name) => {
    const value = all.get(name)?.value;
    return value === undefined ? [] : [[name, value] as const];
  });
  const read = schema.safeParse(Object.fromEntries(given));
  if (read.success) return { values: read.data, place, all };
  const [issue] = read.error.issues;
  const name = String(issue?.path[0] ?? '');
  if (all.has(name)) throw new Error(`${place(name)} ${issue?.message ?? 'is invalid'}`);
  throw new Error(`The setting "${name}" of metric ${nameOfMetric(request.metric)} is missing`);
}

/** Schemas of settings; each is a string, and its error follows its name. */
type SettingsSchema = z.ZodObject<Record<string, z.ZodType<unknown, string | undefined>>>;

const SHOWN_LENGTH = 50;

/** Any text that is not blank. */
export const text = z.string().refine((value) => value.trim() !== '', { error: 'must not be empty' });

/** One of these words. */
export function choice<const W extends string>(words: readonly [W, ...W[]]) {
  return z.enum(words, { error: ({ input }) => `must be one of ${words.join(', ')}, not ${shown(input)}` });
}

/** An integer in a range. */
export function wholeNumber(min: number, max: number) {
  return convert((value) => {
    const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  }, `an integer from ${min} to ${max}`);
}

/** A number in a range. */
export function numberIn(min: number, max: number) {
  return convert((value) => {
    const number = parseDecimal(value) ?? Number.NaN;
    return number >= min && number <= max ? number : undefined;
  }, `a number from ${min} to ${max}`);
}

/** A duration in Go's format, in a range, as milliseconds. */
export function duration(minMs: number, maxMs: number) {
  return convert(
    (value) => {
      const ms = parseDurationMs(value);
      return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
    },
    `a duration of ${formatDuration(minMs)} to ${formatDuration(maxMs)}, as in 30s`,
  );
}

/** The URL of a source and the credentials in it; an error never contains these. */
export const sourceUrl = z.string().transform((value, context): SourceUrl => {
  const read = parseSourceUrl(value);
  if (typeof read !== 'string') return read;
  context.addIssue({ code: 'custom', message: read });
  return z.NEVER;
});

/** Several comma-separated items, each matching a pattern. */
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

/** Settings that select the number in a JSON document. */
export const jsonSettings = {
  'json-key': text
    .optional()
    .describe('JSONPath of the number, such as `$.queue.length`. Either this or `json-eval` is required.'),
  'json-eval': text
    .optional()
    .describe(
      'Expression whose result is the number, such as `$.busy / $.workers * 100`. Either this or `json-key` is required.',
    ),
  aggregator: choice(['avg', 'min', 'max', 'sum'])
    .optional()
    .describe('How to combine several numbers: `avg`, `min`, `max` or `sum`.'),
};

const schema = z.object(jsonSettings);

/** @throws an Error with the invalid setting */
export function extractOf(
  { values, place }: Pick<ReadSettings<typeof schema>, 'values' | 'place'>,
  { metric }: CollectorRequest,
): JsonExtract {
  const { 'json-key': path, 'json-eval': expression, aggregator } = values;
  if (path !== undefined && expression !== undefined)
    throw new Error(`${place('json-eval')} and ${place('json-key')} are mutually exclusive`);
  if (path === undefined && expression === undefined)
    throw new Error(`Metric ${nameOfMetric(metric)} has neither the setting "json-key" nor "json-eval"`);
  const form = path === undefined ? 'expression' : 'path';
  try {
    return jsonExtract({ form, text: path ?? expression ?? '', aggregator });
  } catch (error) {
    const name = form === 'path' ? 'json-key' : 'json-eval';
    throw new Error(`${place(name)} ${messageOf(error)}`);
  }
}
