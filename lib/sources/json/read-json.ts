import type { z } from 'zod';

const MAX_DEPTH = 128;
const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** An empty object takes 50 times the memory of its text. */
const MAX_VALUES = 100_000;
const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\,[]{}'].map(
  (character) => character.charCodeAt(0),
);

/**
 * Parses untrusted JSON. Rejects too deep nesting and too many values before they take memory. The last of duplicate
 * keys counts.
 */
export function readBoundedJson(body: Uint8Array, maxValues = MAX_VALUES): Json {
  checkShape(body, maxValues);
  try {
    return JSON.parse(UTF8.decode(body)) as Json;
  } catch (cause) {
    throw new Error('the response is not valid JSON', {
      cause: cause instanceof SyntaxError ? undefined : cause,
    });
  }
}

function checkShape(body: Uint8Array, maxValues: number): void {
  let [depth, values, isInText] = [0, 0, false];
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (isInText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isInText = false;
    } else if (byte === QUOTE) isInText = true;
    else if (byte === COMMA) values++;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth++;
      values++;
      if (depth > MAX_DEPTH) throw new Error(`the response is nested deeper than ${MAX_DEPTH} levels`);
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
    if (values > maxValues) throw new Error(`the response has more than ${maxValues} values`);
  }
}

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

interface JsonObject {
  readonly [key: string]: Json;
}

export function isArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The type of a value for messages: `null`, `array`, or its JavaScript type. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Lower limit, since a schema lists all problems, which takes a hundred times as long as parsing. */
const MAX_NAMED_VALUES = 40_000;

/** Parses JSON by a schema. @throws an Error that names the system */
export function readJsonAs<S extends z.ZodType>(schema: S, body: Uint8Array, system: string): z.output<S> {
  const read = schema.safeParse(readBoundedJson(body, MAX_NAMED_VALUES));
  if (read.success) return read.data;
  throw new Error(`the response is not a valid response of ${system}`);
}
