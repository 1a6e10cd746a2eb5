/**
 * Bounds the labels that are cached of an object: the API server accepts a megabyte of them, and a tenant may create
 * hundreds of such pods. The longest label has 380 characters.
 */
export const MAX_LABELS_BYTES = 16 * 1024;

/** What an object has whose labels exceed the bound. */
export const OMITTED_LABELS = `labels of more than ${MAX_LABELS_BYTES / 1024} KiB`;

/** Of a text and what refers to it. */
export const TEXT_BYTES = 16;

/** Approximate memory of texts by key, in bytes; values of other types do not count. */
export function sizeOfTexts(texts: Readonly<Record<string, unknown>>): number {
  let bytes = 0;
  for (const key in texts) {
    const text = texts[key];
    if (typeof text === 'string') bytes += key.length + text.length + 2 * TEXT_BYTES;
  }
  return bytes;
}
