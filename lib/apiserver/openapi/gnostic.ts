import { stringify } from 'yaml';
import type { JsonObject, JsonValue } from '#lib/apiserver/encoding/json.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';

/** Writes a value of a JSON document to a field of the message that the value's parent is. */
export type GnosticField = (message: ProtobufWriter, value: JsonValue) => void;

/** What a message is made of, in the order in which it is written. */
export interface GnosticMessage {
  /** By the names that they have in JSON. */
  readonly fields: Readonly<Record<string, GnosticField>>;
  /** The number of the field for whatever begins with `x-`; none has it without one. */
  readonly extensions?: number;
}

/** Writes an object as the fields of a message; what the message has no field for is left out. */
export function writeGnostic(
  message: ProtobufWriter,
  { fields, extensions }: GnosticMessage,
  value: JsonValue,
): void {
  if (!isObject(value)) return;
  for (const [name, write] of Object.entries(fields)) {
    const inner = getOwn(value, name);
    if (inner !== undefined) write(message, inner);
  }
  if (extensions === undefined) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!name.startsWith('x-')) continue;
    message.message(extensions, () => {
      message.string(1, name);
      message.message(2, () => message.string(2, stringify(inner)));
    });
  }
}

/** A text. */
export function text(number: number): GnosticField {
  return (message, value) => message.string(number, String(value));
}

/** Whether something is so; that it is not is what nothing says, too. */
export function truth(number: number): GnosticField {
  return (message, value) => {
    if (value === true) message.bool(number, true);
  };
}

/** A message with one field, or with several of the same. */
export function within(number: number, field: GnosticField): GnosticField {
  return (message, value) => message.message(number, () => field(message, value));
}

/** A message that is a whole object. @param type called when it is needed: messages may contain themselves */
export function object(type: () => GnosticMessage): (number: number) => GnosticField {
  return (number) => within(number, (message, value) => writeGnostic(message, type(), value));
}

/** Another field once for each value of a list. */
export function each(field: GnosticField): GnosticField {
  return (message, value) => {
    for (const one of Array.isArray(value) ? value : []) field(message, one);
  };
}

/** A message of name (1) and value (2) for each value of an object. */
export function named(number: number, value: (number: number) => GnosticField): GnosticField {
  const write = value(2);
  return (message, all) => {
    for (const [name, one] of isObject(all) ? Object.entries(all) : []) {
      message.message(number, () => {
        message.string(1, name);
        write(message, one);
      });
    }
  };
}

/** Either something of its own (1) or a reference to such (2). */
export function orReference(own: (number: number) => GnosticField): (number: number) => GnosticField {
  const [write, refer] = [own(1), within(2, text(1))];
  return (number) =>
    within(number, (message, value) => {
      if (isObject(value) && value.$ref !== undefined) refer(message, value.$ref);
      else write(message, value);
    });
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
