import type { z } from 'zod';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { factsOf } from '../triggers/parameters/parameter.ts';
import type { ParameterSources } from './parameters-of.ts';

/**
 * What of a trigger's parameters nobody must be told: those that the metadata may not have, and those that say so, unless they
 * stand in the metadata, where everybody who sees the object reads them.
 */
export function secretParameters(
  schema: z.ZodObject,
  { metadata, authentication, environment }: ParameterSources,
): readonly string[] {
  const secrets: string[] = [];
  for (const [name, type] of Object.entries(schema.shape) as [string, z.ZodType][]) {
    const { from, aliases = [], isSecret = !from.includes('metadata') } = factsOf(type);
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

/** The whole, and of a URL its password. */
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
