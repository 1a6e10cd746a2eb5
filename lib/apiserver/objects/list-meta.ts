import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';

/** `metav1.ListMeta`: what a list says about itself. */
export interface ListMeta {
  readonly resourceVersion?: string | undefined;
  /** Where the next page starts; absent on the last one. */
  readonly continue?: string | undefined;
  /** How many items are behind this page; absent where that is not known. */
  readonly remainingItemCount?: number | undefined;
}

/** The JSON of a list's `metadata`. */
export function listMetaJson(meta: ListMeta): JsonObject {
  const { resourceVersion, continue: next, remainingItemCount } = meta;
  return {
    ...(resourceVersion && { resourceVersion }),
    ...(next && { continue: next }),
    ...(remainingItemCount !== undefined && { remainingItemCount }),
  };
}

/** Writes the fields of a `ListMeta` message. */
export function writeListMeta(message: ProtobufWriter, meta: ListMeta): void {
  message.string(1, ''); // selfLink
  message.string(2, meta.resourceVersion ?? '');
  message.string(3, meta.continue ?? '');
  if (meta.remainingItemCount !== undefined) message.uint(4, meta.remainingItemCount);
}

/** The number of `items` in every list of Kubernetes. */
export const ITEMS_FIELD = 2;
