/** A field that two values do not share. */
export interface DifferingField {
  /** `status.currentMetrics.0.object.current.averageValue` */
  readonly path: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** Finds what differs between what was recorded and what was replayed; an absent field is none, as `undefined`. */
export function differingFields(recorded: unknown, replayed: unknown, path = ''): DifferingField[] {
  if (Object.is(recorded, replayed)) return [];
  if (!isObject(recorded) || !isObject(replayed) || Array.isArray(recorded) !== Array.isArray(replayed)) {
    return [{ path, recorded, replayed }];
  }
  const names = new Set([...Object.keys(recorded), ...Object.keys(replayed)]);
  return [...names].flatMap((name) =>
    differingFields(recorded[name], replayed[name], path === '' ? name : `${path}.${name}`),
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
