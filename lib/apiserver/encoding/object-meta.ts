import { absent, field, type MessageField, MessageType } from './message-type.ts';
import { ANY_TEXT, listOf, META_SCHEMA, reference, text, wholeNumber } from './schema.ts';
import { sharedType, TEXT, TEXTS, type Texts, TIME, WHOLE_NUMBER } from './value-types.ts';

/** `ObjectMeta` of served objects. */
export interface ObjectMeta {
  readonly name?: string;
  /** `undefined` for cluster-scoped resources. */
  readonly namespace?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** Milliseconds since the epoch; published as whole seconds. `null` where JSON has `null`. */
  readonly creationTimestampMs?: number | null;
  /** Immutable: its encoding is cached with it, for all objects that share it. */
  readonly labels?: Texts;
  readonly annotations?: Texts;
}

const created: MessageField<ObjectMeta> = field(TIME, {
  number: 8,
  description: 'The time at which the object was created.',
  isOptional: true,
  of: ({ creationTimestampMs }) => creationTimestampMs,
});

/**
 * `metav1.ObjectMeta` with every field, whether or not it is ever set here. Hand-written encoders for text and protobuf
 * would encode 30,000 pods, once a cycle, in 88 ms of CPU time instead of 104, and in 67 instead of 83.
 */
export const OBJECT_META = new MessageType<ObjectMeta>({
  name: META_SCHEMA.objectMeta,
  description: 'Metadata of the object.',
  fields: {
    name: field(TEXT, {
      number: 1,
      description: 'The name of the object, unique for its kind in its namespace.',
      isOptional: true,
      of: ({ name = '' }) => name,
    }),
    generateName: absent(2, text('The prefix of a name that the server generates.'), ''),
    namespace: field(TEXT, {
      number: 3,
      description: 'The namespace of the object; empty for cluster-scoped kinds.',
      isOptional: true,
      of: ({ namespace = '' }) => namespace,
    }),
    selfLink: absent(4, text('No longer set.'), ''),
    uid: absent(5, text('The identifier of the object, unique in time and space.'), ''),
    resourceVersion: field(TEXT, {
      number: 6,
      description: 'The version of the object. An opaque value: compare it for equality only.',
      isOptional: true,
      of: ({ resourceVersion = '' }) => resourceVersion,
    }),
    generation: absent(7, wholeNumber('A sequence number of the desired state.'), 0),
    creationTimestamp: {
      ...created,
      write: (message, { creationTimestampMs = null }) => TIME.write(message, 8, creationTimestampMs),
    },
    deletionTimestamp: absent(
      9,
      reference(
        META_SCHEMA.time,
        'The time after which the object is removed. Set when deletion is requested.',
      ),
    ),
    deletionGracePeriodSeconds: absent(10, wholeNumber('Grace period of the deletion, in seconds.')),
    labels: field(sharedType(TEXTS), {
      number: 11,
      description: 'Keys and values to select the object by.',
      isOptional: true,
      of: ({ labels }) => labels,
    }),
    annotations: field(TEXTS, {
      number: 12,
      description: 'Arbitrary data of the object, not for selection.',
      isOptional: true,
      of: ({ annotations }) => annotations,
    }),
    ownerReferences: absent(
      13,
      listOf('The owners of the object.', reference(META_SCHEMA.ownerReference, undefined, {}), {
        'x-kubernetes-list-map-keys': ['uid'],
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-patch-merge-key': 'uid',
        'x-kubernetes-patch-strategy': 'merge',
      }),
    ),
    finalizers: absent(
      14,
      listOf('Identifiers of components that must act before the object is removed.', ANY_TEXT, {
        'x-kubernetes-list-type': 'set',
        'x-kubernetes-patch-strategy': 'merge',
      }),
    ),
    managedFields: absent(
      17,
      listOf('The fields that each manager has set.', reference(META_SCHEMA.managedFields, undefined, {}), {
        'x-kubernetes-list-type': 'atomic',
      }),
    ),
  },
});

export interface ListMeta {
  readonly resourceVersion?: string | undefined;
  /** Token of the next page; absent on the last one. */
  readonly continue?: string | undefined;
  /** Number of items after this page; absent where it is unknown. */
  readonly remainingItemCount?: number | undefined;
}

/** `metav1.ListMeta` */
export const LIST_META = new MessageType<ListMeta>({
  name: META_SCHEMA.listMeta,
  description: 'Metadata of the list.',
  fields: {
    selfLink: absent(1, text('No longer set.'), ''),
    resourceVersion: field(TEXT, {
      number: 2,
      description: 'The version of the listed objects. An opaque value: compare it for equality only.',
      isOptional: true,
      of: ({ resourceVersion = '' }) => resourceVersion,
    }),
    continue: field(TEXT, {
      number: 3,
      description:
        'The token of the next page, for an otherwise identical request. Absent on the last page. ' +
        'The next page starts after the last object of this page, and shows the objects as they are when it is requested.',
      isOptional: true,
      of: ({ continue: next = '' }) => next,
    }),
    remainingItemCount: field(WHOLE_NUMBER, {
      number: 4,
      description: 'The number of objects after this page. Absent for lists with selectors.',
      isOptional: true,
      of: ({ remainingItemCount }) => remainingItemCount,
    }),
  },
});

/** The field number of `items` in every list of Kubernetes. */
export const ITEMS_FIELD = 2;
