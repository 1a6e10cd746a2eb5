import { absent, field, type MessageField, MessageType } from './message-type.ts';
import { ANY_TEXT, listOf, META_SCHEMA, reference, text, wholeNumber } from './schema.ts';
import { keptOf, TEXT, TEXTS, type Texts, TIME, WHOLE_NUMBER } from './value-types.ts';

/** What served objects, and what else has an `ObjectMeta`, say of themselves. */
export interface ObjectMeta {
  readonly name?: string;
  /** `undefined` where the resource has no namespaces. */
  readonly namespace?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** Milliseconds since the epoch; published as whole seconds. `null` where JSON says that there is none. */
  readonly creationTimestampMs?: number | null;
  /** Never changed: what is encoded of it is kept with it, for the objects that share it. */
  readonly labels?: Texts;
  readonly annotations?: Texts;
}

const created: MessageField<ObjectMeta> = field(TIME, {
  number: 8,
  description: 'When the object was created.',
  isOptional: true,
  of: ({ creationTimestampMs }) => creationTimestampMs,
});

/**
 * `metav1.ObjectMeta`, with its every field, whether or not it is ever set here. Writers made by hand for text and protobuf
 * would encode 30,000 pods, which is done once a cycle, in 88 ms of CPU time in place of 104, and in 67 in place of 83.
 */
export const OBJECT_META = new MessageType<ObjectMeta>({
  name: META_SCHEMA.objectMeta,
  description: 'What every object says of itself.',
  fields: {
    name: field(TEXT, {
      number: 1,
      description: 'What the object is called, among all of its kind in its namespace.',
      isOptional: true,
      of: ({ name = '' }) => name,
    }),
    generateName: absent(2, text('The beginning of a name that the server completes.'), ''),
    namespace: field(TEXT, {
      number: 3,
      description: 'The namespace that the object is in; empty for kinds that are in none.',
      isOptional: true,
      of: ({ namespace = '' }) => namespace,
    }),
    selfLink: absent(4, text('Not set any more.'), ''),
    uid: absent(
      5,
      text('What tells the object from every other one, before and after it, whatever their names.'),
      '',
    ),
    resourceVersion: field(TEXT, {
      number: 6,
      description: 'The version of the object; only to be compared for equality.',
      isOptional: true,
      of: ({ resourceVersion = '' }) => resourceVersion,
    }),
    generation: absent(7, wholeNumber('Rises whenever what is wanted of the object changes.'), 0),
    creationTimestamp: {
      ...created,
      write: (message, { creationTimestampMs = null }) => TIME.write(message, 8, creationTimestampMs),
    },
    deletionTimestamp: absent(
      9,
      reference(META_SCHEMA.time, 'When the object will be gone at the latest. Set once it is deleted.'),
    ),
    deletionGracePeriodSeconds: absent(
      10,
      wholeNumber('How long the object may take to end once it is deleted.'),
    ),
    labels: field(keptOf(TEXTS), {
      number: 11,
      description: 'What the object is selected by.',
      isOptional: true,
      of: ({ labels }) => labels,
    }),
    annotations: field(TEXTS, {
      number: 12,
      description: 'Anything that is kept with the object and that nothing is selected by.',
      isOptional: true,
      of: ({ annotations }) => annotations,
    }),
    ownerReferences: absent(
      13,
      listOf('What the object belongs to.', reference(META_SCHEMA.ownerReference, undefined, {}), {
        'x-kubernetes-list-map-keys': ['uid'],
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-patch-merge-key': 'uid',
        'x-kubernetes-patch-strategy': 'merge',
      }),
    ),
    finalizers: absent(
      14,
      listOf('What must be done, by whom, before the object can go.', ANY_TEXT, {
        'x-kubernetes-list-type': 'set',
        'x-kubernetes-patch-strategy': 'merge',
      }),
    ),
    managedFields: absent(
      17,
      listOf('Who has set which fields.', reference(META_SCHEMA.managedFields, undefined, {}), {
        'x-kubernetes-list-type': 'atomic',
      }),
    ),
  },
});

/** What a list says about itself. */
export interface ListMeta {
  readonly resourceVersion?: string | undefined;
  /** Where the next page starts; absent on the last one. */
  readonly continue?: string | undefined;
  /** How many items are behind this page; absent where that is not known. */
  readonly remainingItemCount?: number | undefined;
}

/** `metav1.ListMeta` */
export const LIST_META = new MessageType<ListMeta>({
  name: META_SCHEMA.listMeta,
  description: 'What a list says of itself.',
  fields: {
    selfLink: absent(1, text('Not set any more.'), ''),
    resourceVersion: field(TEXT, {
      number: 2,
      description: 'The version of what is listed; only to be compared for equality.',
      isOptional: true,
      of: ({ resourceVersion = '' }) => resourceVersion,
    }),
    continue: field(TEXT, {
      number: 3,
      description:
        'Where the next page begins, to be sent with an otherwise equal request. Absent on the last page. ' +
        'The next page goes on behind the last object of this one in what there is by then.',
      isOptional: true,
      of: ({ continue: next = '' }) => next,
    }),
    remainingItemCount: field(WHOLE_NUMBER, {
      number: 4,
      description:
        'How many objects are behind this page, where that is known: not for lists with selectors.',
      isOptional: true,
      of: ({ remainingItemCount }) => remainingItemCount,
    }),
  },
});

/** The number of `items` in every list of Kubernetes. */
export const ITEMS_FIELD = 2;
