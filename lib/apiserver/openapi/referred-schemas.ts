import type { JsonValue } from '#lib/apiserver/encoding/json.ts';
import { SCHEMAS_PATH, type Schemas } from '#lib/apiserver/encoding/schema.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';

/**
 * The schemas of the given names, and those that they refer to, and so on; sorted by name.
 *
 * @throws when one refers to a schema that there is not: the description of a resource is incomplete
 */
export function referredSchemas(names: Iterable<string>, schemas: Schemas): Schemas {
  const found = new Set<string>();
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue;
    const schema = getOwn(schemas, name);
    if (!schema) throw new Error(`Cannot describe the API: there is no schema ${name}`);
    found.add(name);
    pending.push(...referencesIn(schema));
  }
  return Object.fromEntries([...found].sort().map((name) => [name, getOwn(schemas, name) ?? {}]));
}

function referencesIn(value: JsonValue): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner.slice(SCHEMAS_PATH.length)] : referencesIn(inner),
  );
}
