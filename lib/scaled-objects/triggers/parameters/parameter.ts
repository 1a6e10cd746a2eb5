import { z } from 'zod';
import { parseDurationMs } from '#lib/time/duration.ts';
import { goBoolean } from '../../api/annotations.ts';

/** Where a parameter may stand: the trigger's metadata, its authentication, or the environment of the target. */
export type Place = 'metadata' | 'authentication' | 'environment';

/** What is said of a parameter beside its type. */
interface ParameterFacts {
  /** In which order it is looked for; the first that is not blank counts. */
  readonly from: readonly Place[];
  /** For the table in the documentation. */
  readonly description: string;
  /** Other names that it goes by. */
  readonly aliases?: readonly string[];
  /** Whether nobody must be told what it is; by default where it must not stand in the metadata. */
  readonly isSecret?: boolean;
  /** What the documentation says that it is where it is left out. */
  readonly default?: string;
}

/** The metadata of a trigger alone. */
export const METADATA: readonly Place[] = ['metadata'];
/** Its authentication alone. */
export const AUTHENTICATION: readonly Place[] = ['authentication'];

const FACTS = new WeakMap<z.ZodType, ParameterFacts>();

/** A parameter of a trigger: how its text is read, where it may stand, and what it means. */
export function parameter<T extends z.ZodType>(type: T, facts: ParameterFacts): T {
  const own = type.clone() as T; // the same type may be several parameters
  FACTS.set(own, facts);
  return own;
}

/** What is said of a parameter. */
export function factsOf(type: z.ZodType): ParameterFacts {
  const facts = FACTS.get(type);
  if (!facts) throw new Error('a parameter was not made by parameter()');
  return facts;
}

const MAX_LENGTH = 65_536;

/** Any text. */
export const text = z.string().max(MAX_LENGTH);

/** A number as Go reads it, in decimals. */
export const float = z.string().transform((given, context) => {
  const trimmed = given.trim();
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed)) return Number(trimmed);
  context.addIssue({ code: 'custom', message: 'it is no number' });
  return z.NEVER;
});

/** A whole number. */
export const integer = z.string().transform((given, context) => {
  const trimmed = given.trim();
  const value = Number(trimmed);
  if (/^[+-]?\d+$/.test(trimmed) && Number.isSafeInteger(value)) return value;
  context.addIssue({ code: 'custom', message: 'it is no whole number' });
  return z.NEVER;
});

/** A boolean as Go reads it. */
export const boolean = z.string().transform((given, context) => {
  const value = goBoolean(given.trim());
  if (value !== undefined) return value;
  context.addIssue({ code: 'custom', message: 'it is neither true nor false' });
  return z.NEVER;
});

/** A text of the authentication alone, that nobody must be told. */
export function secret(description: string, aliases: readonly string[] = []) {
  return parameter(text.optional(), { from: AUTHENTICATION, description, aliases });
}

/** Of every trigger that may be told to trust anybody. */
export const UNSAFE_SSL = parameter(boolean.default(false), {
  from: METADATA,
  description: 'Whether any certificate of the server is taken.',
  default: 'false',
});

/** A duration as Go reads it, or a whole number of milliseconds; in milliseconds. */
export const duration = z.string().transform((given, context) => {
  const trimmed = given.trim();
  const value = /^[+-]?\d{1,15}$/.test(trimmed) ? Number(trimmed) : parseDurationMs(trimmed);
  if (value !== undefined && value >= 0) return value;
  context.addIssue({ code: 'custom', message: 'it is no duration that is not negative' });
  return z.NEVER;
});

/** `k=v,k=v`. */
export const keyValues = z.string().transform((given, context) => {
  const pairs: [string, string][] = [];
  for (const pair of given.split(',')) {
    const equals = pair.indexOf('=');
    if (equals < 1) {
      context.addIssue({ code: 'custom', message: 'it is no list of key=value' });
      return z.NEVER;
    }
    pairs.push([pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()]);
  }
  return Object.fromEntries(pairs) as Readonly<Record<string, string>>;
});

/** One of several words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(...words: Words) {
  return z.string().transform((given, context): Words[number] => {
    const found = words.find((word) => word === given.trim());
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', params: { words }, message: 'it is none of the words' });
    return z.NEVER;
  });
}

/**
 * Takes `host:port` apart, with the brackets of an address.
 *
 * @param name of the parameter that it is
 * @throws an Error that says which parameter is none
 */
export function hostAndPort(name: string, text: string): { readonly host: string; readonly port: number } {
  const trimmed = text.trim();
  const colon = trimmed.lastIndexOf(':');
  const digits = trimmed.slice(colon + 1);
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  const host = trimmed.slice(0, Math.max(0, colon));
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (bare === '' || port < 1 || port > 65_535 || /[\s/@,]/.test(bare))
    throw new Error(`parameter "${name}" value "${text.slice(0, 100)}" must be host:port`);
  return { host: bare, port };
}
