import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** Fields of a message by number. */
export type MessageSchema = Readonly<Record<number, MessageField>>;

/** A field's name in JSON and its encoding. */
export interface MessageField {
  readonly name: string;
  /** `map` is a map of texts, `quantity` a message with one text, `ignored` a field that only the server sets. */
  readonly type:
    | 'string'
    | 'bytes'
    | 'integer'
    | 'boolean'
    | 'map'
    | 'quantity'
    | 'quantities'
    | 'ignored'
    | MessageSchema;
  readonly isRepeated?: true;
  /** Whether zero differs from absent. */
  readonly isOptional?: true;
}

/** A message with an unknown field, which would be lost if it were skipped. */
export class UnknownFieldError extends Error {}

/**
 * Decodes a message to JSON. Empty values are omitted, since Go writes empty texts and zeros.
 *
 * @throws UnknownFieldError for an unknown field with a value, unless unknown fields are skipped
 */
export function decodeMessage(
  bytes: Uint8Array,
  schema: MessageSchema,
  { skipsUnknown }: { readonly skipsUnknown: boolean },
): Record<string, unknown> {
  const message: Record<string, unknown> = {};
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = schema[number];
    if (!field) {
      const skipped = reader.skip(wireType, number);
      if (!skipsUnknown && !isEmpty(skipped, wireType))
        throw new UnknownFieldError(`field ${number} is unknown`);
      continue;
    }
    const value = readValue(reader, field.type, skipsUnknown);
    if (field.type === 'ignored') continue;
    if (field.type === 'map' || field.type === 'quantities')
      message[field.name] = { ...(message[field.name] as object), ...(value as object) };
    else if (field.isRepeated) message[field.name] = [...((message[field.name] as unknown[]) ?? []), value];
    else if (field.isOptional || (value !== '' && value !== 0 && value !== false))
      message[field.name] = value;
  }
  return message;
}

/** Whether a skipped value is zero, empty, or a message of such fields. */
function isEmpty(skipped: Uint8Array, wireType: WireType): boolean {
  const bytes = wireType === WireType.LengthDelimited ? new BinaryReader(skipped).bytes() : skipped;
  return bytes.every((byte) => byte === 0);
}

function readValue(reader: BinaryReader, type: MessageField['type'], skipsUnknown: boolean): unknown {
  switch (type) {
    case 'string':
      return reader.string();
    case 'integer':
      return Number(reader.int64());
    case 'boolean':
      return reader.bool();
    case 'bytes':
    case 'ignored':
      return reader.bytes();
    case 'quantity':
      return decodeMessage(reader.bytes(), QUANTITY, { skipsUnknown }).text ?? '0';
    case 'map': {
      const { key = '', value = '' } = decodeMessage(reader.bytes(), TEXT_ENTRY, { skipsUnknown });
      return { [String(key)]: value };
    }
    case 'quantities': {
      const { key = '', value = '0' } = decodeMessage(reader.bytes(), QUANTITY_ENTRY, { skipsUnknown });
      return { [String(key)]: value };
    }
    default:
      return decodeMessage(reader.bytes(), type, { skipsUnknown });
  }
}

const QUANTITY: MessageSchema = { 1: { name: 'text', type: 'string' } };
const TEXT_ENTRY: MessageSchema = {
  1: { name: 'key', type: 'string' },
  2: { name: 'value', type: 'string' },
};
const QUANTITY_ENTRY: MessageSchema = {
  1: { name: 'key', type: 'string' },
  2: { name: 'value', type: 'quantity' },
};

/** An encoded object and its type. */
interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

/**
 * Reads Kubernetes' protobuf envelope: `k8s\0` and a `runtime.Unknown`.
 *
 * @throws Error for other contents
 */
export function readEnvelope(body: Uint8Array): Envelope {
  if (Buffer.from(body.subarray(0, 4)).toString('latin1') !== 'k8s\0')
    throw new Error('not a Kubernetes message');
  const { typeMeta, raw } = decodeMessage(body.subarray(4), UNKNOWN, { skipsUnknown: true }) as {
    typeMeta?: { apiVersion?: string; kind?: string };
    raw?: Uint8Array;
  };
  if (!raw) throw new Error('an envelope without a message');
  return { apiVersion: typeMeta?.apiVersion ?? '', kind: typeMeta?.kind ?? '', raw };
}

const UNKNOWN: MessageSchema = {
  1: {
    name: 'typeMeta',
    type: { 1: { name: 'apiVersion', type: 'string' }, 2: { name: 'kind', type: 'string' } },
  },
  2: { name: 'raw', type: 'bytes' },
};
