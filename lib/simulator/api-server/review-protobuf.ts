import { BinaryReader } from '@bufbuild/protobuf/wire';

/**
 * Decodes a review of any kind that is served from Kubernetes' protobuf, which Go clients send by themselves since
 * 1.32. The envelope is `k8s\0` and a `runtime.Unknown`.
 *
 * @throws Error when it is none of these
 */
export function decodeReview(body: Uint8Array): unknown {
  if (Buffer.from(body.subarray(0, 4)).toString('latin1') !== 'k8s\0')
    throw new Error('not a Kubernetes message');
  const { typeMeta, raw } = decode(body.subarray(4), UNKNOWN) as {
    typeMeta?: { kind?: string };
    raw?: Uint8Array;
  };
  const schema = REVIEWS[typeMeta?.kind ?? ''];
  if (!schema || !raw) throw new Error(`no kind "${typeMeta?.kind}" is known in protobuf`);
  return decode(raw, schema);
}

/** Fields of a message by number; those that are not listed are skipped. */
type Schema = Readonly<Record<number, Field>>;

interface Field {
  readonly name: string;
  readonly type: 'string' | 'bytes' | Schema;
  readonly isRepeated?: true;
}

const UNKNOWN: Schema = {
  1: {
    name: 'typeMeta',
    type: { 1: { name: 'apiVersion', type: 'string' }, 2: { name: 'kind', type: 'string' } },
  },
  2: { name: 'raw', type: 'bytes' },
};

const RESOURCE_ATTRIBUTES: Schema = Object.fromEntries(
  ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'].map((name, index) => [
    index + 1,
    { name, type: 'string' },
  ]),
);

const ATTRIBUTES: Schema = {
  1: { name: 'resourceAttributes', type: RESOURCE_ATTRIBUTES },
  2: {
    name: 'nonResourceAttributes',
    type: { 1: { name: 'path', type: 'string' }, 2: { name: 'verb', type: 'string' } },
  },
};

const REVIEWS: Readonly<Record<string, Schema>> = {
  TokenReview: { 2: { name: 'spec', type: { 1: { name: 'token', type: 'string' } } } },
  SelfSubjectReview: {},
  SelfSubjectAccessReview: { 2: { name: 'spec', type: ATTRIBUTES } },
  SubjectAccessReview: {
    2: {
      name: 'spec',
      type: {
        ...ATTRIBUTES,
        3: { name: 'user', type: 'string' },
        4: { name: 'groups', type: 'string', isRepeated: true },
        6: { name: 'uid', type: 'string' },
      },
    },
  },
};

function decode(bytes: Uint8Array, schema: Schema): Record<string, unknown> {
  const message: Record<string, unknown> = {};
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = schema[number];
    if (!field) {
      reader.skip(wireType, number);
      continue;
    }
    const value = readValue(reader, field.type);
    if (field.isRepeated) message[field.name] = [...((message[field.name] as unknown[]) ?? []), value];
    else message[field.name] = value;
  }
  return message;
}

function readValue(reader: BinaryReader, type: Field['type']): unknown {
  if (type === 'string') return reader.string();
  const bytes = reader.bytes();
  return type === 'bytes' ? bytes : decode(bytes, type);
}
