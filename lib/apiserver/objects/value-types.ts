import { goJsonText } from '#lib/apiserver/encoding/go-json.ts';
import type { JsonObject, JsonValue } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { formatTime, writeTime } from './meta-time.ts';
import { ANY_TEXT, flag, listOf, META_SCHEMA, reference, type Schema, text, wholeNumber } from './schema.ts';

/** How values of one type are written in every format, and described. */
export interface ValueType<Value> {
  json(value: Value): JsonValue;
  /** The same as text on one line. */
  text(value: Value): string;
  /** Writes the value as a field of a message; a list as one field for each of its values. */
  write(message: ProtobufWriter, number: number, value: Value): void;
  schema(description: string): Schema;
  /** Its schema inside of lists and maps. */
  readonly item: Schema;
}

export const TEXT: ValueType<string> = {
  json: (value) => value,
  text: goJsonText,
  write: (message, number, value) => message.string(number, value),
  schema: text,
  item: ANY_TEXT,
};

export const FLAG: ValueType<boolean> = {
  json: (value) => value,
  text: String,
  write: (message, number, value) => message.bool(number, value),
  schema: flag,
  item: { type: 'boolean' },
};

/** Of at least 0. */
export const WHOLE_NUMBER: ValueType<number> = {
  json: (value) => value,
  text: String,
  write: (message, number, value) => message.uint(number, value),
  schema: wholeNumber,
  item: { type: 'integer', format: 'int64' },
};

/** A moment in milliseconds since the epoch, as `metav1.Time`. */
export const TIME: ValueType<number> = {
  json: formatTime,
  text: (timeMs) => `"${formatTime(timeMs)}"`,
  write: (message, number, timeMs) => message.message(number, () => writeTime(message, timeMs)),
  schema: (description) => reference(META_SCHEMA.time, description, {}),
  item: reference(META_SCHEMA.time, undefined, {}),
};

/** @param extensions how several are merged, in Kubernetes' `x-` fields */
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
    schema: (description) => listOf(description, type.item, extensions),
    item: { type: 'array', items: type.item },
  };
}
