import type { z } from 'zod';
import { factsOf } from '../triggers/parameters/parameter.ts';

/** Keys in the metadata of a trigger that stand for none of its parameters: most likely they are misspelled. */
export function unmatchedKeys(
  schema: z.ZodObject,
  metadata: Readonly<Record<string, string>>,
): readonly string[] {
  const known = new Set<string>();
  for (const [name, type] of Object.entries(schema.shape) as [string, z.ZodType][]) {
    const { from, aliases = [] } = factsOf(type);
    for (const key of [name, ...aliases]) {
      if (from.includes('metadata')) known.add(key);
      if (from.includes('environment')) known.add(`${key}FromEnv`);
    }
  }
  return Object.keys(metadata).filter((key) => !known.has(key));
}
