import type { HpaBehavior } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';

/** Deeper is no behavior. */
const DEEPEST = 4;

/**
 * The behavior of an annotation of autoscaling/v1 in the terms of v2: the API server writes the names of its own fields
 * there, as in `ScaleUp`, and null for what was not written.
 *
 * @returns `undefined` for what is none
 */
export function behaviorFromV1(value: unknown): HpaBehavior | undefined {
  const read = withOurNames(value, DEEPEST);
  return typeof read === 'object' && read !== null && !Array.isArray(read) ? read : undefined;
}

/** Names that begin with a small letter, and nothing that is null. */
function withOurNames(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return undefined;
  if (Array.isArray(value)) return value.map((one) => withOurNames(one, depth - 1));
  const given = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(
    given.map(([name, one]) => [
      `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`,
      withOurNames(one, depth - 1),
    ]),
  );
}
