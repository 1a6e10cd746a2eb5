import type { Document } from './document.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { ProtobufWriter } from './protobuf-writer.ts';
import { objectOf, reference, type Schema, type Schemas } from './schema.ts';
import type { ValueType } from './value-types.ts';

/** A field of messages for values of type `Of`. */
export interface MessageField<Of> {
  readonly number: number;
  /** Whether JSON has it even if it is empty. */
  readonly isRequired: boolean;
  /** Where it is always left out. */
  readonly isAbsent?: 'everywhere' | 'in JSON';
  readonly schema: Schema;
  /** @returns `undefined` where JSON leaves it out */
  json(of: Of): JsonValue | undefined;
  /** The same as text on one line. */
  text(of: Of): string | undefined;
  write(message: ProtobufWriter, of: Of): void;
}

/**
 * Describes a field. A field for which `of` returns `undefined` is left out in every format; an optional empty one is
 * left out in JSON alone, as in Kubernetes.
 */
export function field<Of, Value>(
  type: ValueType<Value>,
  {
    number,
    description = '',
    isOptional = false,
    of: read,
  }: {
    readonly number: number;
    readonly description?: string;
    readonly isOptional?: boolean;
    of(of: Of): Value | undefined;
  },
): MessageField<Of> {
  const isEmpty = (isOptional && type.isEmpty) || (() => false);
  const isLeftOut = (value: Value | undefined) => value === undefined || isEmpty(value);
  return {
    number,
    isRequired: !isOptional,
    schema: type.schema(description),
    json: (of) => {
      const value = read(of);
      return isLeftOut(value) ? undefined : type.json(value as Value);
    },
    text: (of) => {
      const value = read(of);
      return isLeftOut(value) ? undefined : type.text(value as Value);
    },
    write: (message, of) => {
      const value = read(of);
      if (value !== undefined) type.write(message, number, value);
    },
  };
}

/**
 * A field that is described, but that no object here has: JSON leaves it out.
 *
 * @param empty the value in protobuf, where Kubernetes' message cannot leave the field out
 */
export function absent(number: number, schema: Schema, empty?: '' | 0): MessageField<unknown> {
  return {
    number,
    isRequired: false,
    isAbsent: empty === undefined ? 'everywhere' : 'in JSON',
    schema,
    json: () => undefined,
    text: () => undefined,
    write: (message) => {
      if (empty === '') message.string(number, empty);
      else if (empty === 0) message.uint(number, empty);
    },
  };
}

interface MessageTypeOptions<Of> {
  /** The name of its schema; without one it is not described. */
  readonly name?: string;
  readonly description?: string;
  /** By name, in the order of JSON. */
  readonly fields: Readonly<Record<string, MessageField<Of>>>;
  /** Properties of the schema that are written elsewhere, such as `kind`. */
  readonly properties?: Schemas;
  readonly extensions?: JsonObject;
}

/** A message type: encodings in every format and the schema, from one list of fields. */
export class MessageType<Of> implements ValueType<Of> {
  readonly item: Schema;
  readonly #options: MessageTypeOptions<Of>;
  readonly #fields: readonly {
    readonly name: string;
    readonly head: string;
    readonly field: MessageField<Of>;
  }[];
  readonly #byNumber: readonly MessageField<Of>[];

  constructor(options: MessageTypeOptions<Of>) {
    this.#options = options;
    this.#fields = Object.entries(options.fields)
      .filter(([, { isAbsent }]) => !isAbsent)
      .map(([name, field]) => ({ name, head: `"${name}":`, field }));
    this.#byNumber = Object.values(options.fields)
      .filter(({ isAbsent }) => isAbsent !== 'everywhere')
      .sort((a, b) => a.number - b.number);
    this.item = reference(options.name ?? '', undefined, {});
  }

  json(of: Of): JsonObject {
    const object: Record<string, JsonValue> = {};
    for (const { name, field } of this.#fields) {
      const value = field.json(of);
      if (value !== undefined) object[name] = value;
    }
    return object;
  }

  text(of: Of): string {
    return `{${this.membersText(of)}}`;
  }

  /** The JSON without the enclosing braces. */
  membersText(of: Of): string {
    let text = '';
    for (const { head, field } of this.#fields) {
      const value = field.text(of);
      if (value !== undefined) text += `${text && ','}${head}${value}`;
    }
    return text;
  }

  write(message: ProtobufWriter, number: number, of: Of): void {
    message.message(number, () => this.writeFields(message, of));
  }

  writeFields(message: ProtobufWriter, of: Of): void {
    for (const field of this.#byNumber) field.write(message, of);
  }

  schema(description?: string): Schema {
    return reference(this.#options.name ?? '', description, {});
  }

  /** Its schema, by name. */
  get definition(): Schemas {
    const { name = '', description = '', fields, properties, extensions = {} } = this.#options;
    const own = Object.entries(fields).map(([key, { schema }]) => [key, schema] as const);
    const all = [...Object.entries(properties ?? {}), ...own].sort(([a], [b]) => (a < b ? -1 : 1));
    const required = Object.entries(fields).flatMap(([key, { isRequired }]) => (isRequired ? [key] : []));
    return { [name]: objectOf(description, { required, properties: Object.fromEntries(all), extensions }) };
  }
}

/** A whole response that consists of one message. */
export function documentOf<Of>(
  of: Of,
  messageType: MessageType<Of>,
  type: { readonly kind: string; readonly apiVersion: string },
): Document {
  return {
    ...type,
    fields: () => messageType.json(of),
    membersText: () => messageType.membersText(of),
    writeFields: (message) => messageType.writeFields(message, of),
  };
}
