import type * as z from 'zod';

/** The type of values that a schema decodes: nothing in them changes. */
export type Decoded<S extends z.ZodType> = Unchanging<z.output<S>>;

type Unchanging<T> = T extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Unchanging<T[Key]> }
    : T;

/** Of a key that a user has given. */
const MAX_KEY_LENGTH = 63;

/**
 * Finds a field of another type than its schema gives it. What is found names the field and never repeats its value.
 *
 * @param name of the value, as in `spec`; empty for a whole object
 * @returns as in `spec.replicas: Invalid input: expected number, received string`; `undefined` where the value has the form
 * of the schema
 */
export function findWrongField(schema: z.ZodType, name: string, value: unknown): string | undefined {
  return describeIssue(schema.safeParse(value).error, name);
}

/**
 * Reads a value by a schema.
 *
 * @param what it is read as, as in `a Lease`
 * @throws an Error that names the first wrong field and never repeats its value
 */
export function readAs<S extends z.ZodType>(schema: S, what: string, value: unknown): z.output<S> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new Error(`Cannot read ${what}: ${describeIssue(read.error, '')}`);
}

function describeIssue(error: z.ZodError | undefined, name: string): string | undefined {
  const [issue] = error?.issues ?? [];
  if (!issue) return undefined;
  const path = [...(name === '' ? [] : [name]), ...issue.path]
    .map((key) => String(key).slice(0, MAX_KEY_LENGTH))
    .join('.');
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}
