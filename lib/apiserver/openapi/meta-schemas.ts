import {
  ANY_TEXT,
  flag,
  listOf,
  META_SCHEMA,
  mapOf,
  objectOf,
  reference,
  type Schemas,
  text,
  wholeNumber,
} from '#lib/apiserver/objects/schema.ts';

const ATOMIC = { 'x-kubernetes-list-type': 'atomic' };

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
  [META_SCHEMA.listMeta]: objectOf('What a list says of itself.', {
    properties: {
      continue: text(
        'Where the next page begins, to be sent with an otherwise equal request. Absent on the last page. ' +
          'The next page goes on behind the last object of this one in what there is by then.',
      ),
      remainingItemCount: wholeNumber(
        'How many objects are behind this page, where that is known: not for lists with selectors.',
      ),
      resourceVersion: text('The version of what is listed; only to be compared for equality.'),
      selfLink: text('Not set any more.'),
    },
  }),
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
  [META_SCHEMA.objectMeta]: objectOf('What every object says of itself.', {
    properties: {
      annotations: mapOf('Anything that is kept with the object and that nothing is selected by.', ANY_TEXT),
      creationTimestamp: reference(META_SCHEMA.time, 'When the object was created.', {}),
      deletionGracePeriodSeconds: wholeNumber('How long the object may take to end once it is deleted.'),
      deletionTimestamp: reference(
        META_SCHEMA.time,
        'When the object will be gone at the latest. Set once it is deleted.',
      ),
      finalizers: listOf('What must be done, by whom, before the object can go.', ANY_TEXT, {
        'x-kubernetes-list-type': 'set',
        'x-kubernetes-patch-strategy': 'merge',
      }),
      generateName: text('The beginning of a name that the server completes.'),
      generation: wholeNumber('Rises whenever what is wanted of the object changes.'),
      labels: mapOf('What the object is selected by.', ANY_TEXT),
      managedFields: listOf(
        'Who has set which fields.',
        reference(META_SCHEMA.managedFields, undefined, {}),
        ATOMIC,
      ),
      name: text('What the object is called, among all of its kind in its namespace.'),
      namespace: text('The namespace that the object is in; empty for kinds that are in none.'),
      ownerReferences: listOf(
        'What the object belongs to.',
        reference(META_SCHEMA.ownerReference, undefined, {}),
        {
          'x-kubernetes-list-map-keys': ['uid'],
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-patch-merge-key': 'uid',
          'x-kubernetes-patch-strategy': 'merge',
        },
      ),
      resourceVersion: text('The version of the object; only to be compared for equality.'),
      selfLink: text('Not set any more.'),
      uid: text('What tells the object from every other one, before and after it, whatever their names.'),
    },
  }),
};
