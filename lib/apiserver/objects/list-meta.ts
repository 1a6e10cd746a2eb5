import { absent, field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import { META_SCHEMA, text } from './schema.ts';
import { TEXT, WHOLE_NUMBER } from './value-types.ts';

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
