import { z } from 'zod';
import { parseDurationMs } from '#lib/time/duration.ts';
import { goBoolean } from '../../api/annotations.ts';

/** Source of a parameter: the trigger's metadata, its authentication, or the environment of the target's container. */
export type Place = 'metadata' | 'authentication' | 'environment';

interface ParameterOptions {
  /** Sources in order; the first value that is not blank counts. By default only the metadata. */
  readonly from?: readonly Place[];
  readonly aliases?: readonly string[];
  /** Whether to redact its value; by default if the metadata is not a source. */
  readonly isSecret?: boolean;
  /** Whether it is refused or ignored, so that forms do not offer it. */
  readonly isUnsupported?: boolean;
}

/** Properties of a parameter beside its type. */
interface ParameterFacts extends Required<ParameterOptions> {
  /** For the table in the documentation. */
  readonly description: string;
  /** The default value as metadata would have it; `undefined` without one. */
  readonly default: string | undefined;
}

export const AUTHENTICATION: readonly Place[] = ['authentication'];

const FACTS = new WeakMap<z.ZodType, ParameterFacts>();

/** Declares a parameter of a trigger. */
export function parameter<T extends z.ZodType>(
  type: T,
  description: string,
  { from = ['metadata'], aliases = [], ...options }: ParameterOptions = {},
): T {
  const own = type.clone() as T; // several parameters may share a type
  const { isSecret = !from.includes('metadata'), isUnsupported = false } = options;
  const { data } = type.safeParse(undefined);
  const fallback = data === undefined ? undefined : `${data}`;
  FACTS.set(own, { description, from, aliases, isSecret, isUnsupported, default: fallback });
  return own;
}

export function factsOf(type: z.ZodType): ParameterFacts {
  const facts = FACTS.get(type);
  if (!facts) throw new Error('the type was not declared by parameter()');
  return facts;
}

const MAX_LENGTH = 65_536;

export const text = z.string().max(MAX_LENGTH);

/** A decimal number in Go's syntax. */
export const float = z.string().transform((given, context) => {
  const trimmed = given.trim();
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed)) return Number(trimmed);
  context.addIssue({ code: 'custom', message: 'not a number' });
  return z.NEVER;
});

/** A whole number. */
export const integer = z.string().transform((given, context) => {
  const trimmed = given.trim();
  const value = Number(trimmed);
  if (/^[+-]?\d+$/.test(trimmed) && Number.isSafeInteger(value)) return value;
  context.addIssue({ code: 'custom', message: 'not a whole number' });
  return z.NEVER;
});

/** A boolean in Go's syntax. */
export const boolean = z.string().transform((given, context) => {
  const value = goBoolean(given.trim());
  if (value !== undefined) return value;
  context.addIssue({ code: 'custom', message: 'neither true nor false' });
  return z.NEVER;
});

/** A secret of the authentication, which is redacted in messages. */
export function secret(description: string, aliases: readonly string[] = []) {
  return parameter(text.optional(), description, { from: AUTHENTICATION, aliases });
}

/** Shared by all triggers with TLS. */
export const UNSAFE_SSL = parameter(
  boolean.default(false),
  'Whether to skip the verification of the server certificate.',
);

/** Begins the description of a timeout without a default. */
export const REQUEST_TIMEOUT =
  'Timeout of a request, such as 5s, or in milliseconds; by default, the value of --trigger-http-timeout';

/** A duration in Go's syntax, or a whole number of milliseconds. Result in milliseconds. */
export const duration = z.string().transform((given, context) => {
  const trimmed = given.trim();
  const value = /^[+-]?\d{1,15}$/.test(trimmed) ? Number(trimmed) : parseDurationMs(trimmed);
  if (value !== undefined && value >= 0) return value;
  context.addIssue({ code: 'custom', message: 'not a duration of 0 or more' });
  return z.NEVER;
});

/** `k=v,k=v`. */
export const keyValues = z.string().transform((given, context) => {
  const pairs: [string, string][] = [];
  for (const pair of given.split(',')) {
    const equals = pair.indexOf('=');
    if (equals < 1) {
      context.addIssue({ code: 'custom', message: 'not a list of key=value' });
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
    context.addIssue({ code: 'custom', params: { words }, message: 'not one of the allowed values' });
    return z.NEVER;
  });
}

/**
 * Parses `host:port`; IPv6 addresses are in brackets.
 *
 * @param name of the parameter, for messages
 * @throws an Error that names the parameter
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
