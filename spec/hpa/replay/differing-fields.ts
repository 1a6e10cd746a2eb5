/** A field that differs between two values. */
export interface DifferingField {
  /** `status.currentMetrics.0.object.current.averageValue` */
  readonly path: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** Finds the differences between the recorded and the replayed value; an absent field equals `undefined`. */
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
