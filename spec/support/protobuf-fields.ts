import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** The fields of a protobuf message by number, read without a schema. */
export class ProtobufFields {
  readonly #values = new Map<number, (number | Uint8Array)[]>();

  constructor(message: Uint8Array) {
    const reader = new BinaryReader(message);
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      const value = type === WireType.Varint ? Number(reader.uint64()) : reader.bytes();
      this.#values.set(field, [...(this.#values.get(field) ?? []), value]);
    }
  }

  /** The numbers of all fields. */
  get fields(): readonly number[] {
    return [...this.#values.keys()];
  }

  number(field: number): number | undefined {
    const value = this.#values.get(field)?.[0];
    return typeof value === 'number' ? value : undefined;
  }

  text(field: number): string | undefined {
    const value = this.#values.get(field)?.[0];
    return value instanceof Uint8Array ? Buffer.from(value).toString() : undefined;
  }

  bytes(field: number): Buffer | undefined {
    const value = this.#values.get(field)?.[0];
    return value instanceof Uint8Array ? Buffer.from(value) : undefined;
  }

  message(field: number): ProtobufFields | undefined {
    return this.messages(field)[0];
  }

  messages(field: number): readonly ProtobufFields[] {
    const values = this.#values.get(field) ?? [];
    return values.filter((value) => value instanceof Uint8Array).map((value) => new ProtobufFields(value));
  }
}
