import { decodeMessage, type MessageSchema } from '../protobuf/protobuf-message.ts';

/**
 * Decodes a review of any kind that is served from Kubernetes' protobuf, which Go clients send by themselves since
 * 1.32.
 *
 * @throws Error when it is none of these
 */
export function decodeReview(body: Uint8Array): unknown {
  const { kind, raw } = readEnvelope(body);
  const schema = REVIEWS[kind];
  if (!schema) throw new Error(`no kind "${kind}" is known in protobuf`);
  return decodeMessage(raw, schema, { skipsUnknown: true });
}

/** An object as it travels: what it is, and its message. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

/**
 * Opens Kubernetes' envelope of protobuf: `k8s\0` and a `runtime.Unknown`.
 *
 * @throws Error when it is none
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

const RESOURCE_ATTRIBUTES: MessageSchema = Object.fromEntries(
  ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'].map((name, index) => [
    index + 1,
    { name, type: 'string' },
  ]),
);

const ATTRIBUTES: MessageSchema = {
  1: { name: 'resourceAttributes', type: RESOURCE_ATTRIBUTES },
  2: {
    name: 'nonResourceAttributes',
    type: { 1: { name: 'path', type: 'string' }, 2: { name: 'verb', type: 'string' } },
  },
};

const REVIEWS: Readonly<Record<string, MessageSchema>> = {
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
