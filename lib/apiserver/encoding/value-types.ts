import { memoizeByObject } from '#lib/cache/memoize.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';

import { goJsonText, type JsonObject, type JsonValue } from './json.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import {
  ANY_TEXT,
  flag,
  listOf,
  META_SCHEMA,
  mapOf,
  reference,
  type Schema,
  text,
  wholeNumber,
} from './schema.ts';

/** How values of one type are encoded in every format, and described. */
export interface ValueType<Value> {
  json(value: Value): JsonValue;
  /** As JSON text on one line. */
  text(value: Value): string;
  /** Writes the value as a field of a message; an array as one field for each of its values. */
  write(message: ProtobufWriter, number: number, value: Value): void;
  /** Whether JSON leaves it out where it is optional; by default, never. */
  isEmpty?(value: Value): boolean;
  schema(description: string): Schema;
  /** Its schema in arrays and maps. */
  readonly item: Schema;
}

export const TEXT: ValueType<string> = {
  json: (value) => value,
  text: goJsonText,
  write: (message, number, value) => message.string(number, value),
  isEmpty: (value) => value === '',
  schema: text,
  item: ANY_TEXT,
};

export const FLAG: ValueType<boolean> = {
  json: (value) => value,
  text: String,
  write: (message, number, value) => message.bool(number, value),
  isEmpty: (value) => !value,
  schema: flag,
  item: { type: 'boolean' },
};

/** At least 0. */
export const WHOLE_NUMBER: ValueType<number> = {
  json: (value) => value,
  text: String,
  write: (message, number, value) => message.uint(number, value),
  isEmpty: (value) => value === 0,
  schema: wholeNumber,
  item: { type: 'integer', format: 'int64' },
};

/** Milliseconds since the epoch, as `metav1.Time`; `null` for none, which protobuf has as an empty message. */
export const TIME: ValueType<number | null> = {
  json: (timeMs) => (timeMs === null ? null : formatTimestamp(timeMs)),
  text: (timeMs) => (timeMs === null ? 'null' : `"${formatTimestamp(timeMs)}"`),
  write: (message, number, timeMs) =>
    message.message(number, () => {
      if (timeMs !== null) writeTime(message, timeMs);
    }),
  schema: (description) => reference(META_SCHEMA.time, description, {}),
  item: reference(META_SCHEMA.time, undefined, {}),
};

/** A quantity in its canonical form. */
export const QUANTITY: ValueType<string> = {
  ...TEXT,
  write: (message, number, quantity) => message.message(number, () => message.string(1, quantity)),
  schema: (description) => reference(META_SCHEMA.quantity, description),
  item: reference(META_SCHEMA.quantity, undefined, {}),
};

/** @param extensions merge rules, in Kubernetes' `x-` fields */
export function manyOf<Value>(
  type: ValueType<Value>,
  extensions: JsonObject = {},
): ValueType<readonly Value[]> {
  return {
    json: (values) => values.map((value) => type.json(value)),
    text: (values) => {
      let list = '';
      for (const value of values) list += `${list && ','}${type.text(value)}`;
      return `[${list}]`;
    },
    write: (message, number, values) => {
      for (const value of values) type.write(message, number, value);
    },
    isEmpty: ({ length }) => length === 0,
    schema: (description) => listOf(description, type.item, extensions),
    item: { type: 'array', items: type.item },
  };
}

/** JSON has `null` where there is no value; protobuf leaves the field out. */
export function orNull<Value>(type: ValueType<Value>): ValueType<Value | null> {
  return {
    json: (value) => (value === null ? null : type.json(value)),
    text: (value) => (value === null ? 'null' : type.text(value)),
    write: (message, number, value) => {
      if (value !== null) type.write(message, number, value);
    },
    schema: (description) => type.schema(description),
    item: type.item,
  };
}

/** Strings by name, such as labels. */
export type Texts = Readonly<Record<string, string>>;

/**
 * Strings sorted by name. In a JSON object, names that are integers come first and in numeric order, as in every
 * JavaScript object.
 */
export const TEXTS: ValueType<Texts> = {
  json: (texts) => Object.fromEntries(sortedEntries(texts)),
  text: (texts) => {
    let members = '';
    for (const key of Object.keys(texts).sort())
      members += `${members && ','}${goJsonText(key)}:${goJsonText(getOwn(texts, key) ?? '')}`;
    return `{${members}}`;
  },
  write: (message, number, texts) => {
    for (const [key, value] of sortedEntries(texts)) {
      message.message(number, () => {
        message.string(1, key);
        message.string(2, value);
      });
    }
  },
  isEmpty: (texts) => {
    for (const _key in texts) return false;
    return true;
  },
  schema: (description) => mapOf(description, ANY_TEXT),
  item: mapOf('', ANY_TEXT),
};

/** Shared: a buffer of its own would be retained with each value's bytes, which are fewer. */
const sharedWriter = new ProtobufWriter();

/**
 * A type whose values are shared by many messages and are immutable: the encoding of each is cached with it, for one
 * field.
 */
export function sharedType<Value extends object>(type: ValueType<Value>): ValueType<Value> {
  const bytesOf = memoizeByObject((value: Value, number: number) => {
    type.write(sharedWriter, number, value);
    return sharedWriter.finish();
  });
  return {
    ...type,
    json: memoizeByObject((value) => type.json(value)),
    text: memoizeByObject((value) => type.text(value)),
    write: (message, number, value) => message.raw(bytesOf(value, number)),
  };
}

function sortedEntries(texts: Texts): [string, string][] {
  return Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Writes the fields of a `metav1.Time` message. */
function writeTime(message: ProtobufWriter, timeMs: number): void {
  message.uint(1, Math.floor(timeMs / 1000));
  message.uint(2, 0); // nanoseconds: Kubernetes' times are whole seconds
}
