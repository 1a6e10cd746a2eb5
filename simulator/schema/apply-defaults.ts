import { isRecord, type Schema, schemaOfField } from './schema.ts';

/** A value with the defaults of its schema where it has nothing, at every depth; what needs none stays the same object. */
export function withDefaults(value: unknown, schema: Schema | undefined): unknown {
  if (!schema) return value;
  if (Array.isArray(value)) return defaultsOfItems(value, schema.items);
  return isRecord(value) ? defaultsOfFields(value, schema) : value;
}

function defaultsOfItems(items: readonly unknown[], schema: Schema | undefined): readonly unknown[] {
  if (!schema) return items;
  const completed = items.map((item) => withDefaults(item, schema));
  return completed.some((item, index) => item !== items[index]) ? completed : items;
}

function defaultsOfFields(value: Readonly<Record<string, unknown>>, schema: Schema): unknown {
  const completed: Record<string, unknown> = {};
  let isChanged = false;
  for (const [field, old] of Object.entries(value)) {
    const known = schemaOfField(schema, field);
    // A null that is not allowed counts as absent.
    const isAbsent = old === null && known !== undefined && known.nullable !== true;
    if (!isAbsent) completed[field] = withDefaults(old, known);
    if (isAbsent || completed[field] !== old) isChanged = true;
  }
  for (const [field, known] of Object.entries(schema.properties ?? {})) {
    if (known.default === undefined || Object.hasOwn(completed, field)) continue;
    completed[field] = withDefaults(structuredClone(known.default), known);
    isChanged = true;
  }
  return isChanged ? completed : value;
}
