import { getOwn } from '#lib/kubernetes/get-own.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a JSON merge patch says that makes the one object of the other: what is gone is null. */
export function mergePatch(before: object, after: object): Fields {
  const [was, is] = [before as Fields, after as Fields];
  const patch = new Map<string, unknown>();
  for (const field of Object.keys(was)) if (!Object.hasOwn(is, field)) patch.set(field, null);
  for (const [field, value] of Object.entries(is)) {
    const previous = getOwn(was, field);
    patch.set(field, isObject(previous) && isObject(value) ? mergePatch(previous, value) : value);
  }
  return Object.fromEntries(patch);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
