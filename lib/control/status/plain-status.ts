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
  const kept: Record<string, unknown> = {};
  let isEmpty = true;
  for (const [field, item] of Object.entries(value)) {
    const plain = withoutEmpty(item);
    if (plain === undefined) continue;
    kept[field] = plain;
    isEmpty = false;
  }
  return isEmpty ? undefined : kept;
}
