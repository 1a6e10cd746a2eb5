import { isIP } from 'node:net';
import { formatDuration, parseDurationMs } from '#lib/time/duration.ts';

/** Parses, formats and joins the values of a flag. */
export interface FlagKind<T> {
  /** Stands for the value in the help; empty for a switch, whose value is optional. */
  readonly placeholder: string;
  /** @throws an Error whose message is the rule that the text violates */
  parse(text: string): T;
  format(value: T): string;
  /** Joins the values of a flag that is given several times. Without it, the last value wins. */
  join?(values: readonly T[]): T;
}

export interface Flag<T> {
  /** Without the dashes. */
  readonly name: string;
  /** One letter, as in `-v`. */
  readonly shorthand?: string;
  readonly kind: FlagKind<T>;
  readonly default: T;
  /** One or more sentences, including units and rules. */
  readonly description: string;
  /** @returns the rule that the value violates, as in `must be positive`; `undefined` for a valid value */
  validate?(value: T): string | undefined;
  /** The value may contain a secret, so errors do not show it. */
  readonly mayContainSecret?: boolean;
  /** Why the flag is accepted without effect. */
  readonly ignoredBecause?: string;
}

/** Flags by the property that takes their value. */
export type FlagSet = Readonly<Record<string, Flag<unknown>>>;

export type FlagValues<F extends FlagSet> = {
  readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never;
};

/** Flags under one heading of the help. */
export interface FlagSection {
  readonly title: string;
  readonly flags: FlagSet;
}

export function flag<T>(
  name: string,
  kind: FlagKind<T>,
  facts: Omit<Flag<NoInfer<T>>, 'name' | 'kind'>,
): Flag<T> {
  return { name, kind, ...facts };
}

export const text: FlagKind<string> = { placeholder: 'string', parse: (value) => value, format: quote };

/** Go's spellings of true and false: `1`, `t`, `T`, `true`, `TRUE`, `True` and their opposites. */
export const boolean: FlagKind<boolean> = {
  placeholder: '',
  parse(value) {
    if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
    if (/^(0|f|F|false|FALSE|False)$/.test(value)) return false;
    throw new Error('must be true or false');
  },
  format: String,
};

/** An integer within the safe range of a double. */
export const integer: FlagKind<number> = {
  placeholder: 'int',
  parse(value) {
    const number = /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!Number.isSafeInteger(number)) throw new Error('must be a whole number');
    return number;
  },
  format: String,
};

export const decimal: FlagKind<number> = {
  placeholder: 'float',
  parse(value) {
    const number = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : Number.NaN;
    if (!Number.isFinite(number)) throw new Error('must be a number');
    return number;
  },
  format: String,
};

/** A Go duration; the value is in milliseconds. */
export const duration: FlagKind<number> = {
  placeholder: 'duration',
  parse(value) {
    const durationMs = parseDurationMs(value);
    if (durationMs === undefined) throw new Error('must be a duration with units, such as 90s or 1m30s');
    return durationMs;
  },
  format: formatDuration,
};

/** Makes a kind's value optional: `undefined` when the flag is not given. */
export function optional<T>(kind: FlagKind<T>): FlagKind<T | undefined> {
  return {
    placeholder: kind.placeholder,
    parse: (value) => kind.parse(value),
    format: (value) => (value === undefined ? '' : kind.format(value)),
  };
}

/** An IP address, or empty. */
export const ipAddress: FlagKind<string> = {
  placeholder: 'ip',
  parse(value) {
    const address = value.trim();
    if (address !== '' && isIP(address) === 0) throw new Error('must be an IP address');
    return address;
  },
  format: (value) => value,
};

/** Comma-separated texts; lists of repeated flags are concatenated. */
export const texts: FlagKind<readonly string[]> = {
  placeholder: 'strings',
  parse: (value) => (value === '' ? [] : value.split(',')),
  format: (values) => `[${values.join(',')}]`,
  join: (lists) => lists.flat(),
};

/** One text for each occurrence of the flag. */
export const repeatedText: FlagKind<readonly string[]> = {
  placeholder: 'string',
  parse: (value) => [value],
  format: (values) => `[${values.join(' ')}]`,
  join: (lists) => lists.flat(),
};

/** `NAME=VALUE`, or several separated by commas. As in Go's pflag, a single pair may contain commas in its value. */
export const namedTexts: FlagKind<readonly string[]> = {
  ...repeatedText,
  parse: (value) => (value.indexOf('=') === value.lastIndexOf('=') ? [value] : value.split(',')),
};

export function oneOf<const T extends string>(...words: readonly T[]): FlagKind<T> {
  return {
    placeholder: 'string',
    parse(value) {
      const word = words.find((candidate) => candidate === value);
      if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`);
      return word;
    },
    format: quote,
  };
}

function quote(value: string): string {
  return JSON.stringify(value);
}

export function notNegative(value: number): string | undefined {
  return value >= 0 ? undefined : 'must not be negative';
}

export function positive(value: number): string | undefined {
  return value > 0 ? undefined : 'must be above 0';
}
