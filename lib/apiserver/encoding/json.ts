/** What Go's `encoding/json` escapes so that JSON can stand inside HTML and JavaScript. */
const ESCAPED = /[<>&\u2028\u2029]/g;

/**
 * Writes JSON as Go's `encoding/json` does, byte for byte.
 *
 * @param indentation spaces a level; 0 writes everything on one line
 */
export function goJson(value: JsonValue, indentation = 0): string {
  return JSON.stringify(value, null, indentation).replace(ESCAPED, escapeCharacter);
}

/** What stands in JSON as it is, as nearly every name and label does. */
const PLAIN = /^[\w ./:-]*$/;

/** One text as {@link goJson} writes it, sooner. */
export function goJsonText(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : goJson(text);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** What JSON can say. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object of JSON; fields are published in the order in which they were added. */
export interface JsonObject {
  readonly [field: string]: JsonValue;
}
