import type { z } from 'zod';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { factsOf, type Place } from './parameter.ts';

export interface ParameterSources {
  readonly metadata: Readonly<Record<string, string>>;
  readonly authentication: Readonly<Record<string, string>>;
  /** Variables of the target's container, for metadata keys that end in `FromEnv`. */
  readonly environment: Readonly<Record<string, string>>;
}

const PLACES: Readonly<Record<Place, string>> = {
  metadata: 'triggerMetadata',
  authentication: 'authParams',
  environment: 'resolvedEnv',
};
const SHOWN_LENGTH = 100;

/**
 * Reads the parameters of a trigger, each from its first source that is not blank.
 *
 * @throws an Error that names the parameter and the reason; never with a value of an authentication
 */
export function parametersOf<T extends z.ZodObject>(schema: T, sources: ParameterSources): z.output<T> {
  const found = new Map<string, { readonly value: string; readonly place: Place }>();
  for (const [name, type] of Object.entries(schema.shape) as [string, z.ZodType][]) {
    const value = findParameter(name, type, sources);
    if (value) found.set(name, value);
    else if (!type.safeParse(undefined).success) throw new Error(missing(name, type));
  }
  const texts = Object.fromEntries([...found].map(([name, { value }]) => [name, value]));
  const read = schema.safeParse(texts);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const name = String(issue?.path[0] ?? '');
  const { value = '', place = 'metadata' } = found.get(name) ?? {};
  const shown = place === 'metadata' ? value.slice(0, SHOWN_LENGTH) : '…';
  const words = issue && wordsOf(issue);
  if (words) throw new Error(`parameter "${name}" value "${shown}" must be one of [${words.join(' ')}]`);
  throw new Error(`unable to set param "${name}" value "${shown}": ${issue?.message ?? 'invalid value'}`);
}

/** All problems of a trigger's metadata, in plain words, for forms. */
export function problemsOf(
  schema: z.ZodObject,
  metadata: Readonly<Record<string, string>>,
): readonly { readonly name: string; readonly problem: string }[] {
  const { error } = schema.safeParse(metadata);
  return (error?.issues ?? []).map((issue) => {
    const name = String(issue.path[0] ?? '');
    return { name, problem: Object.hasOwn(metadata, name) ? describeIssue(issue) : 'is missing' };
  });
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const words = wordsOf(issue);
  return words ? `must be one of ${words.join(', ')}` : `is ${issue.message}`;
}

/** The words of {@link oneOf}; `undefined` for an issue of another type. */
function wordsOf(issue: z.core.$ZodIssue): readonly string[] | undefined {
  return 'params' in issue ? (issue.params as { words?: readonly string[] })?.words : undefined;
}

function findParameter(
  name: string,
  type: z.ZodType,
  { metadata, authentication, environment }: ParameterSources,
) {
  const { from, aliases } = factsOf(type);
  for (const place of from) {
    for (const key of [name, ...aliases]) {
      const variable = place === 'environment' ? getOwn(metadata, `${key}FromEnv`) : undefined;
      const value =
        place === 'environment'
          ? variable && getOwn(environment, variable)
          : getOwn(place === 'metadata' ? metadata : authentication, key);
      if (value !== undefined && value.trim() !== '') return { value, place };
    }
  }
  return undefined;
}

function missing(name: string, type: z.ZodType): string {
  const places = factsOf(type).from.map((place) => PLACES[place]);
  return `missing required parameter "${name}" in [${places.join(' ')}]`;
}

/**
 * Values to redact: those of secret parameters, unless they are set in the metadata, where all readers of the object see them.
 */
export function secretParameters(
  schema: z.ZodObject,
  { metadata, authentication, environment }: ParameterSources,
): readonly string[] {
  const secrets: string[] = [];
  for (const [name, type] of Object.entries(schema.shape) as [string, z.ZodType][]) {
    const { aliases, isSecret } = factsOf(type);
    if (!isSecret) continue;
    for (const key of [name, ...aliases]) {
      const variable = getOwn(metadata, `${key}FromEnv`);
      for (const value of [
        getOwn(authentication, key),
        variable === undefined ? undefined : getOwn(environment, variable),
      ])
        if (value !== undefined) secrets.push(...secretsInside(value));
    }
  }
  return secrets;
}

/** The value, and the password in it if it is a URL. */
function secretsInside(value: string): readonly string[] {
  if (!URL.canParse(value)) return [value];
  const { password } = new URL(value);
  return [value, password, decoded(password)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Metadata keys without a parameter, which are most likely misspelled. */
export function unmatchedKeys(
  schema: z.ZodObject,
  metadata: Readonly<Record<string, string>>,
): readonly string[] {
  const names = new Set<string>();
  for (const [name, type] of Object.entries(schema.shape) as [string, z.ZodType][]) {
    const { from, aliases } = factsOf(type);
    for (const key of [name, ...aliases]) {
      if (from.includes('metadata')) names.add(key);
      if (from.includes('environment')) names.add(`${key}FromEnv`);
    }
  }
  return Object.keys(metadata).filter((key) => !names.has(key));
}
