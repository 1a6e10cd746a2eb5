import type { Fallback, ScaledObject } from '../api/scaled-object.ts';
import { type Modifiers, modifiersOf } from '../values/modifiers.ts';

/** What the spec of a ScaledObject means, compiled once for each generation; annotations do not raise that. */
export interface CompiledScaledObject {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  /** The formula and its targets; `undefined` where it has none, or none that can be used. */
  readonly modifiers: Modifiers | undefined;
  /** Why the formula cannot be used. */
  readonly modifiersError: Error | undefined;
  /** The fallback that counts; `undefined` where it has none, or none that can be used. */
  readonly fallback: Fallback | undefined;
}

/** Compiles the spec of a ScaledObject. Parsing the formula is expensive; what is wrong with it is in the result. */
export function compileScaledObject(object: ScaledObject): CompiledScaledObject {
  const { uid, generation } = object.metadata;
  const { fallback } = object.spec;
  const isUsable = fallback !== undefined && fallback.failureThreshold >= 0 && fallback.replicas >= 0;
  return { uid, generation, ...compileModifiers(object), fallback: isUsable ? fallback : undefined };
}

function compileModifiers(object: ScaledObject): Pick<CompiledScaledObject, 'modifiers' | 'modifiersError'> {
  try {
    return { modifiers: modifiersOf(object), modifiersError: undefined };
  } catch (error) {
    const modifiersError = error instanceof Error ? error : new Error(String(error));
    return { modifiers: undefined, modifiersError };
  }
}
