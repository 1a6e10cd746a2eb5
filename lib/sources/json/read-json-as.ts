import type { z } from 'zod';
import { readBoundedJson } from './read-bounded-json.ts';

/** A schema makes a list of all that is wrong, which takes a hundred times as long as to parse it. */
const MAX_VALUES = 40_000;

/** Reads JSON of an expected form. @throws an Error that says whose response it should have been */
export function readJsonAs<S extends z.ZodType>(schema: S, body: Uint8Array, whose: string): z.output<S> {
  const read = schema.safeParse(readBoundedJson(body, MAX_VALUES));
  if (read.success) return read.data;
  throw new Error(`the response is not one of ${whose}`);
}
