import { z } from 'zod';
import { parseSourceUrl, type SourceUrl } from '#lib/sources/http/source-url.ts';
import { decimalNumber } from '#lib/sources/sample.ts';
import { formatDuration, parseDurationMs } from '#lib/time/duration.ts';

/** What the settings of a collector may be; each is written as text, and its error goes behind its name. */
export type SettingsSchema = z.ZodObject<Record<string, z.ZodType<unknown, string | undefined>>>;

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
    const number = decimalNumber(value) ?? Number.NaN;
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
