import { z } from 'zod';

/** Something that reads what strangers write. */
export interface FuzzTarget {
  readonly name: string;
  /** The longest text to have it read, in characters. */
  readonly bound?: number;
  /** What it really gets to read. */
  readonly seeds: readonly string[];
  /** Reads it; a promise is awaited. */
  read(text: string): unknown;
  /** Whether an error is its way to say that the text is wrong. */
  isRefusal(error: unknown): boolean;
}

/** Our own errors are plain; the language's are faults of the program. */
export const isPlainError = (error: unknown) => error instanceof Error && error.constructor === Error;

/** For what reads objects by a schema. */
export const isPlainOrSchemaError = (error: unknown) =>
  isPlainError(error) || error instanceof z.core.$ZodError;

/** For what has a result for every text. */
export const never = () => false;

/** Reads JSON as what comes before the target does, which refuses what is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Has several readers read one text, each of which may refuse it. */
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
