import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isRecord, type Schema, schemaOfField } from '../../resources/schema.ts';

const operations = z.array(
  z.looseObject({
    op: z.enum(['add', 'remove', 'replace', 'test']),
    path: z.string(),
    value: z.unknown().optional(),
  }),
);

/** An invalid patch, or one that cannot be applied to the object. */
export class PatchError extends Error {
  /** Whether the patch is valid and the object does not match it. */
  readonly isAboutObject: boolean;

  constructor(message: string, { isAboutObject }: { readonly isAboutObject: boolean }) {
    super(message);
    this.isAboutObject = isAboutObject;
  }
}

/**
 * Applies a JSON patch (RFC 6902) without `move` and `copy`, completely or not at all.
 *
 * @throws PatchError with the path
 */
export function jsonPatch(target: unknown, patch: unknown): unknown {
  const parsed = operations.safeParse(patch);
  if (!parsed.success)
    throw new PatchError(`error decoding patch: ${parsed.error.issues[0]?.message}`, {
      isAboutObject: false,
    });
  let result = structuredClone(target);
  for (const { op, path, value } of parsed.data) {
    switch (op) {
      case 'test': {
        const found = valueAt(result, path);
        if (!isDeepStrictEqual(found ?? null, value ?? null))
          throw impossible(`testing value ${path} failed: test failed`);
        break;
      }
      case 'remove':
        result = take(result, path);
        break;
      case 'replace':
        required(result, path);
        result = put(path === '' ? result : take(result, path), path, value);
        break;
      case 'add':
        result = put(result, path, value);
        break;
    }
  }
  return result;
}

function stepsOf(pointer: string): readonly string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/'))
    throw new PatchError(`invalid path ${JSON.stringify(pointer)}`, { isAboutObject: false });
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueAt(target: unknown, pointer: string): unknown {
  let current = target;
  for (const step of stepsOf(pointer)) {
    if (Array.isArray(current)) current = current[Number(step)];
    else current = isRecord(current) && Object.hasOwn(current, step) ? current[step] : undefined;
  }
  return current;
}

function required(target: unknown, pointer: string): unknown {
  const found = valueAt(target, pointer);
  if (found === undefined) throw impossible(`doc is missing path: ${pointer}: missing value`);
  return found;
}

/** Modifies the value, which is {@link jsonPatch}'s copy. */
function take(target: unknown, pointer: string): unknown {
  required(target, pointer);
  const { parent, step } = parentOf(target, pointer);
  if (Array.isArray(parent)) parent.splice(Number(step), 1);
  else delete (parent as Record<string, unknown>)[step];
  return target;
}

function put(target: unknown, pointer: string, value: unknown): unknown {
  if (pointer === '') return value;
  const { parent, step } = parentOf(target, pointer);
  if (!Array.isArray(parent)) {
    Object.defineProperty(parent, step, { value, enumerable: true, configurable: true, writable: true });
    return target;
  }
  const index = step === '-' ? parent.length : Number(step);
  if (!/^(-|\d+)$/.test(step) || index > parent.length)
    throw impossible(`index ${step} of ${pointer} is out of range`);
  parent.splice(index, 0, value);
  return target;
}

function parentOf(target: unknown, pointer: string): { readonly parent: object; readonly step: string } {
  const cut = pointer.lastIndexOf('/');
  const parent = valueAt(target, pointer.slice(0, cut));
  const step = stepsOf(pointer).at(-1);
  if (typeof parent !== 'object' || parent === null || step === undefined)
    throw impossible(`doc is missing path: ${pointer}: missing value`);
  return { parent, step };
}

function impossible(message: string): PatchError {
  return new PatchError(message, { isAboutObject: true });
}

/** Applies a JSON merge patch (RFC 7386): null deletes, objects merge, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

/**
 * Applies a strategic merge patch: a JSON merge patch that merges lists item by item where their schema requires it,
 * and follows directives (`$patch`, `$deleteFromPrimitiveList/…`, `$setElementOrder/…`, `$retainKeys`).
 *
 * @throws PatchError for a list item without its merge key
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

/** Sorts the items of a list; items that are not in the order stay behind the item that they followed. */
function inOrder(
  list: readonly unknown[],
  order: readonly unknown[],
  mergeKey: string | undefined,
): readonly unknown[] {
  const keyOf = (item: unknown) => (mergeKey !== undefined && isRecord(item) ? item[mergeKey] : item);
  const desired = order.map(keyOf);
  const isDesired = (item: unknown) => desired.some((key) => isDeepStrictEqual(key, keyOf(item)));
  const ordered = desired.flatMap((key) =>
    list.filter((item) => isDeepStrictEqual(keyOf(item), key)).slice(0, 1),
  );
  return [...ordered, ...list.filter((item) => !isDesired(item))];
}

function mergeKeyOf(schema: Schema | undefined): string | undefined {
  return schema?.['x-kubernetes-list-map-keys']?.[0];
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
