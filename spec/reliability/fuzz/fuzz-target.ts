import { z } from 'zod';

/** Code that reads text from untrusted sources. */
export interface FuzzTarget {
  readonly name: string;
  /** The maximum length of a text, in characters. */
  readonly bound?: number;
  /** Realistic texts. */
  readonly seeds: readonly string[];
  /** Reads a text; a promise is awaited. */
  read(text: string): unknown;
  /** Whether an error is an expected rejection of the text. */
  isRefusal(error: unknown): boolean;
}

/** Our errors are plain; the language's own classes are faults of the program. */
export const isPlainError = (error: unknown) => error instanceof Error && error.constructor === Error;

/** For readers that validate objects with a schema. */
export const isPlainOrSchemaError = (error: unknown) =>
  isPlainError(error) || error instanceof z.core.$ZodError;

/** For readers with a result for every text. */
export const never = () => false;

/** Parses JSON as the caller of the target does, which rejects other texts. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Passes one text to several readers, each of which may reject it. */
export async function readAll(
  isRefusal: (error: unknown) => boolean,
  ...reads: readonly (() => unknown)[]
): Promise<void> {
  for (const read of reads) {
    try {
      await read();
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }
}
