type Fields = Readonly<Record<string, unknown>>;

/** What a JSON merge patch says that makes the one object of the other: what is gone is null. */
export function mergePatch(before: object, after: object): Fields {
  const [was, is] = [before as Fields, after as Fields];
  const patch: Record<string, unknown> = {};
  for (const field of Object.keys(was)) if (!Object.hasOwn(is, field)) patch[field] = null;
  for (const [field, value] of Object.entries(is)) {
    const known = Object.hasOwn(was, field) ? was[field] : undefined;
    patch[field] = isObject(known) && isObject(value) ? mergePatch(known, value) : value;
  }
  return patch;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
