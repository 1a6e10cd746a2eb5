/**
 * The value of a record's own key; `undefined` where it has none.
 *
 * External keys (of labels, annotations, Secrets, JSON, queries, flags) may be `constructor` or `__proto__`, which
 * index access finds in the prototype of every plain object.
 */
export function getOwn<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
