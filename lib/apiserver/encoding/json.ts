/** Characters that Go's `encoding/json` escapes so that JSON can be embedded in HTML and JavaScript. */
const ESCAPED = /[<>&\u2028\u2029]/g;

/**
 * Encodes JSON as Go's `encoding/json` does, byte for byte.
 *
 * @param indentation spaces a level; 0 for a single line
 */
export function goJson(value: JsonValue, indentation = 0): string {
  return JSON.stringify(value, null, indentation).replace(ESCAPED, escapeCharacter);
}

/** Needs no escaping; nearly every name and label matches. */
const PLAIN = /^[\w ./:-]*$/;

/** One string as {@link goJson} encodes it, but faster. */
export function goJsonText(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : goJson(text);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object; fields are published in insertion order. */
export interface JsonObject {
  readonly [field: string]: JsonValue;
}
