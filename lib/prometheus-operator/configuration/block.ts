/** A part of Prometheus' configuration, as it is written in YAML. */
export type Block = Readonly<Record<string, unknown>>;

/** Names of fields in an object of Kubernetes, and those of the configuration. */
export type FieldNames<Fields> = { readonly [Field in keyof Fields]?: string };

/** Leaves out fields that are absent or empty, as Prometheus' own defaults apply then. */
export function block(fields: Block): Block {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isAbsent(value)));
}

/** Copies fields under the names of the configuration, in the order of the names. */
export function renameFields<Fields extends object>(fields: Fields, names: FieldNames<Fields>): Block {
  const values = new Map<string, unknown>(Object.entries(fields));
  return block(
    Object.fromEntries(
      Object.entries(names as Record<string, string>).map(([field, name]) => [name, values.get(field)]),
    ),
  );
}

function isAbsent(value: unknown): boolean {
  if (value === undefined || value === '') return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
