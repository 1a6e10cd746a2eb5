/** What JSON can say. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object of JSON; fields are published in the order in which they were added. */
export interface JsonObject {
  readonly [field: string]: JsonValue;
}
