import { isDeepStrictEqual } from 'node:util';
import { isRecord, type Schema, schemaOfField } from '../schema/schema.ts';
import { PatchError } from './json-patch.ts';

/**
 * Applies a strategic merge patch: as a JSON merge patch, but lists whose schema says so are merged item by item,
 * and directives (`$patch`, `$deleteFromPrimitiveList/…`, `$setElementOrder/…`, `$retainKeys`) are obeyed.
 *
 * @throws PatchError for a list item that lacks its merge key
 */
export function strategicMergePatch(target: unknown, patch: unknown, schema: Schema | undefined): unknown {
  if (!isRecord(patch)) return patch;
  if (patch.$patch === 'replace') return withoutDirectives(patch);
  if (patch.$patch === 'delete') return undefined;
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  const retained = patch.$retainKeys;
  if (Array.isArray(retained))
    for (const key of Object.keys(merged)) if (!retained.includes(key)) delete merged[key];
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$')) continue;
    if (value === null) delete merged[key];
    else merged[key] = mergeField(merged[key], value, schemaOfField(schema, key));
    if (merged[key] === undefined) delete merged[key];
  }
  for (const [key, value] of Object.entries(patch)) {
    const [directive, field = ''] = key.split('/', 2);
    const list = merged[field];
    if (!Array.isArray(value) || !Array.isArray(list)) continue;
    if (directive === '$deleteFromPrimitiveList')
      merged[field] = list.filter((item) => !value.includes(item));
    if (directive === '$setElementOrder')
      merged[field] = inOrder(list, value, mergeKeyOf(schemaOfField(schema, field)));
  }
  return merged;
}

function mergeField(old: unknown, value: unknown, schema: Schema | undefined): unknown {
  if (!Array.isArray(value)) return strategicMergePatch(old, value, schema);
  const isMerged = schema?.['x-kubernetes-patch-strategy']?.split(',').includes('merge') ?? false;
  if (!isMerged) return withoutDirectives(value);
  const mergeKey = mergeKeyOf(schema);
  const before = Array.isArray(old) ? old : [];
  if (mergeKey === undefined) return [...before, ...value.filter((item) => !before.includes(item))];
  return mergeItems(before, value, { mergeKey, items: schema?.items });
}

function mergeItems(
  before: readonly unknown[],
  patch: readonly unknown[],
  { mergeKey, items }: { readonly mergeKey: string; readonly items: Schema | undefined },
): readonly unknown[] {
  const replaces = patch.some((item) => isRecord(item) && item.$patch === 'replace');
  const merged = replaces ? [] : [...before];
  for (const item of patch) {
    if (!isRecord(item)) continue;
    if (item.$patch === 'replace') continue;
    if (item[mergeKey] === undefined)
      throw new PatchError(`map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`, {
        isAboutObject: false,
      });
    const index = merged.findIndex(
      (one) => isRecord(one) && isDeepStrictEqual(one[mergeKey], item[mergeKey]),
    );
    if (item.$patch === 'delete') {
      if (index >= 0) merged.splice(index, 1);
    } else if (index >= 0) merged[index] = strategicMergePatch(merged[index], item, items);
    else merged.push(strategicMergePatch({}, item, items));
  }
  return merged;
}

/** Items of the list in the wanted order; those of which the order does not speak stay behind what they followed. */
function inOrder(
  list: readonly unknown[],
  order: readonly unknown[],
  mergeKey: string | undefined,
): readonly unknown[] {
  const keyOf = (item: unknown) => (mergeKey !== undefined && isRecord(item) ? item[mergeKey] : item);
  const wanted = order.map(keyOf);
  const isWanted = (item: unknown) => wanted.some((key) => isDeepStrictEqual(key, keyOf(item)));
  const ordered = wanted.flatMap((key) =>
    list.filter((item) => isDeepStrictEqual(keyOf(item), key)).slice(0, 1),
  );
  return [...ordered, ...list.filter((item) => !isWanted(item))];
}

function mergeKeyOf(schema: Schema | undefined): string | undefined {
  return schema?.['x-kubernetes-patch-merge-key'] ?? schema?.['x-kubernetes-list-map-keys']?.[0];
}

function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.filter(
      (item) => !(isRecord(item) && Object.keys(item).length === 1 && item.$patch !== undefined),
    );
    return items.map(withoutDirectives);
  }
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([key, field]) => !key.startsWith('$') && field !== null);
  return Object.fromEntries(fields.map(([key, field]) => [key, withoutDirectives(field)]));
}
