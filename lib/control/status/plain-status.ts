/**
 * A status as it would come back: without what is undefined. Empty texts, nulls, lists and objects are left out, too, at every
 * depth, and mean the same as what is not there: of an empty text that is applied to a custom resource Kubernetes 1.20 makes a
 * null, and refuses it; of an empty object it does not tell whose it is.
 */
export function plainStatus(status: object | undefined): Readonly<Record<string, unknown>> {
  return (withoutEmpty(status) ?? {}) as Readonly<Record<string, unknown>>;
}

/** @returns `undefined` for what is empty */
function withoutEmpty(value: unknown): unknown {
  if (value === '' || value === null || value === undefined) return undefined;
  if (typeof value !== 'object') return value;
  // The places of a list have a meaning, whatever is in them.
  if (Array.isArray(value))
    return value.length > 0 ? value.map((item) => withoutEmpty(item) ?? item) : undefined;
  const plain = Object.entries(value).flatMap(([field, item]) => {
    const plainItem = withoutEmpty(item);
    return plainItem === undefined ? [] : [[field, plainItem] as const];
  });
  return plain.length === 0 ? undefined : Object.fromEntries(plain);
}
