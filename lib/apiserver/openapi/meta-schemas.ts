import { LIST_META, OBJECT_META } from '#lib/apiserver/encoding/object-meta.ts';
import {
  flag,
  META_SCHEMA,
  objectOf,
  reference,
  type Schemas,
  text,
} from '#lib/apiserver/encoding/schema.ts';

/** What every kind of Kubernetes is made of, with its every field, whether or not it is served here. */
export const META_SCHEMAS: Schemas = {
  [META_SCHEMA.quantity]: {
    description:
      'An amount: a decimal number with a decimal suffix (n, u, m, k, M, G, T, P, E), a binary one (Ki, Mi, Gi, Ti, Pi, Ei) ' +
      'or an exponent. Written here with the largest suffix that leaves a whole number.',
    oneOf: [{ type: 'string' }, { type: 'number' }],
  },
  [META_SCHEMA.duration]: {
    description: 'A length of time: numbers with units (h, m, s, ms, us, ns), as in 1m30s or 14.997s.',
    type: 'string',
  },
  [META_SCHEMA.time]: {
    description: 'A moment in UTC, in whole seconds, as RFC 3339 writes it.',
    type: 'string',
    format: 'date-time',
  },
  [META_SCHEMA.fields]: { description: 'A set of fields, as a tree of their names.', type: 'object' },
  ...LIST_META.definition,
  [META_SCHEMA.managedFields]: objectOf('Which fields a manager of an object has set.', {
    properties: {
      apiVersion: text('The version of the API that the fields are named in.'),
      fieldsType: text('How the fields are told: always FieldsV1.'),
      fieldsV1: reference(META_SCHEMA.fields, 'The fields that the manager has set.'),
      manager: text('Who manages the fields.'),
      operation: text('How the fields were set: Apply or Update.'),
      subresource: text('Through which subresource the fields were set; empty for the object itself.'),
      time: reference(META_SCHEMA.time, 'When the manager last changed which fields it has set.'),
    },
  }),
  [META_SCHEMA.ownerReference]: objectOf('An object that another one belongs to and goes away with.', {
    required: ['apiVersion', 'kind', 'name', 'uid'],
    properties: {
      apiVersion: text('The API group and version of the owner.'),
      blockOwnerDeletion: flag(
        'Whether the owner stays until this object is gone, when it is deleted in the foreground.',
      ),
      controller: flag('Whether the owner controls this object; at most one does.'),
      kind: text('What the owner is.'),
      name: text('The name of the owner.'),
      uid: text('The UID of the owner.'),
    },
    extensions: { 'x-kubernetes-map-type': 'atomic' },
  }),
  ...OBJECT_META.definition,
};
