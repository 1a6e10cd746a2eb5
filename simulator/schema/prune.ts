import { isRecord, OBJECT_META, type Schema, schemaOfField } from './schema.ts';

/** A value without what its schema does not know, and where that was. */
export interface Pruned {
  readonly value: unknown;
  /** As `spec.jobs[0].colour`. */
  readonly unknownFields: readonly string[];
}

/** Removes fields that the schema has not, as the API server does; what nothing is removed from stays the same object. */
export function prune(value: unknown, schema: Schema): Pruned {
  const unknownFields: string[] = [];
  return { value: pruned(value, schema, { path: '', unknownFields }), unknownFields };
}

interface Place {
  readonly path: string;
  readonly unknownFields: string[];
}

function pruned(value: unknown, schema: Schema, place: Place): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return value;
    const kept = value.map((item, index) =>
      pruned(item, items, { ...place, path: `${place.path}[${index}]` }),
    );
    return kept.some((item, index) => item !== value[index]) ? kept : value;
  }
  return isRecord(value) ? prunedFields(value, schema, place) : value;
}

function prunedFields(value: Readonly<Record<string, unknown>>, schema: Schema, place: Place): unknown {
  const keepsUnknown =
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const kept: Record<string, unknown> = {};
  let isChanged = false;
  for (const [field, old] of Object.entries(value)) {
    const path = place.path === '' ? field : `${place.path}.${field}`;
    const own = isEmbedded ? embeddedField(field) : undefined;
    const known = own ?? schemaOfField(schema, field);
    if (known) kept[field] = pruned(old, known, { ...place, path });
    else if (keepsUnknown) kept[field] = old;
    else place.unknownFields.push(path);
    if (kept[field] !== old) isChanged = true;
  }
  return isChanged ? kept : value;
}

function embeddedField(field: string): Schema | undefined {
  if (field === 'metadata') return OBJECT_META;
  return field === 'kind' || field === 'apiVersion' ? { type: 'string' } : undefined;
}
