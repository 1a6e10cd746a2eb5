import { isIP } from 'node:net';
import { formatDuration, parseDurationMs } from '#lib/time/duration.ts';

/** How the values of a flag are written. */
export interface FlagKind<T> {
  /** What stands for the value in the help; empty for a switch, whose value may be left out. */
  readonly placeholder: string;
  /** @throws an Error whose message is the rule that the text breaks */
  parse(text: string): T;
  format(value: T): string;
  /** Joins the values of a flag that may be given more than once; without it the last one counts. */
  join?(values: readonly T[]): T;
}

/** One flag of a command line. */
export interface Flag<T> {
  /** Without the dashes. */
  readonly name: string;
  /** One letter, as in `-v`. */
  readonly shorthand?: string;
  readonly kind: FlagKind<T>;
  readonly default: T;
  /** One or more sentences; units and rules are told here. */
  readonly description: string;
  /** @returns the rule that a value breaks, as in `must be positive`; `undefined` when it breaks none */
  ruleBrokenBy?(value: T): string | undefined;
  /** Whether a value may hold what nobody is to read, so that an error never shows it. */
  readonly mayHoldSecret?: boolean;
  /** Why the flag is accepted and has no effect. */
  readonly ignoredBecause?: string;
}

/** Flags by the property that their value becomes. */
export type FlagSet = Readonly<Record<string, Flag<unknown>>>;

/** The values of a flag set. */
export type FlagValues<F extends FlagSet> = {
  readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never;
};

/** Flags that belong together in the help. */
export interface FlagSection {
  readonly title: string;
  readonly flags: FlagSet;
}

/** Describes one flag. */
export function flag<T>(
  name: string,
  kind: FlagKind<T>,
  facts: Omit<Flag<NoInfer<T>>, 'name' | 'kind'>,
): Flag<T> {
  return { name, kind, ...facts };
}

/** Any text. */
export const text: FlagKind<string> = { placeholder: 'string', parse: (value) => value, format: quote };

/** Whether something is so; as in Go `1`, `t`, `true` and their opposites, in small, capital or title letters. */
export const boolean: FlagKind<boolean> = {
  placeholder: '',
  parse(value) {
    if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
    if (/^(0|f|F|false|FALSE|False)$/.test(value)) return false;
    throw new Error('must be true or false');
  },
  format: String,
};

/** A whole number that a double holds exactly. */
export const integer: FlagKind<number> = {
  placeholder: 'int',
  parse(value) {
    const number = /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!Number.isSafeInteger(number)) throw new Error('must be a whole number');
    return number;
  },
  format: String,
};

/** A number. */
export const decimal: FlagKind<number> = {
  placeholder: 'float',
  parse(value) {
    const number = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : Number.NaN;
    if (!Number.isFinite(number)) throw new Error('must be a number');
    return number;
  },
  format: String,
};

/** A duration as Go writes it, in milliseconds. */
export const duration: FlagKind<number> = {
  placeholder: 'duration',
  parse(value) {
    const durationMs = parseDurationMs(value);
    if (durationMs === undefined) throw new Error('must be a duration with units, like 90s or 1m30s');
    return durationMs;
  },
  format: formatDuration,
};

/** A value that may be left out, where leaving it out says something that no value says. */
export function optional<T>(kind: FlagKind<T>): FlagKind<T | undefined> {
  return {
    placeholder: kind.placeholder,
    parse: (value) => kind.parse(value),
    format: (value) => (value === undefined ? '' : kind.format(value)),
  };
}

/** An IP address; empty for none in particular. */
export const ipAddress: FlagKind<string> = {
  placeholder: 'ip',
  parse(value) {
    const address = value.trim();
    if (address !== '' && isIP(address) === 0) throw new Error('must be an IP address');
    return address;
  },
  format: (value) => value,
};

/** Texts with commas between them; given more than once, the lists are joined. */
export const texts: FlagKind<readonly string[]> = {
  placeholder: 'strings',
  parse: (value) => (value === '' ? [] : value.split(',')),
  format: (values) => `[${values.join(',')}]`,
  join: (lists) => lists.flat(),
};

/** Texts, one for each time that the flag is given. */
export const repeatedText: FlagKind<readonly string[]> = {
  placeholder: 'string',
  parse: (value) => [value],
  format: (values) => `[${values.join(' ')}]`,
  join: (lists) => lists.flat(),
};

/** `NAME=VALUE`, or several with commas between them; a single one may have commas in its value, as in Go. */
export const namedTexts: FlagKind<readonly string[]> = {
  ...repeatedText,
  parse: (value) => (value.indexOf('=') === value.lastIndexOf('=') ? [value] : value.split(',')),
};

/** One of a few words. */
export function oneOf<const T extends string>(...words: readonly T[]): FlagKind<T> {
  return {
    placeholder: 'string',
    parse(value) {
      const word = words.find((known) => known === value);
      if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`);
      return word;
    },
    format: quote,
  };
}

function quote(value: string): string {
  return JSON.stringify(value);
}

/** The rule of a number that may be 0, but not less. */
export function notNegative(value: number): string | undefined {
  return value >= 0 ? undefined : 'must not be negative';
}

/** The rule of a number that must be more than 0. */
export function positive(value: number): string | undefined {
  return value > 0 ? undefined : 'must be above 0';
}
