import { keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import { type CompiledScaledObject, compileScaledObject } from './prepared-scaled-object.ts';

/** ScaledObjects as they were compiled, one generation of each. */
export class PreparedObjects {
  readonly #compiled = new Map<string, CompiledScaledObject>();

  /** Compiles an object unless that was done for its generation. */
  compiled(object: ScaledObject): CompiledScaledObject {
    const key = keyOf(object.metadata);
    const { uid, generation } = object.metadata;
    const cached = this.#compiled.get(key);
    if (cached && cached.uid === uid && cached.generation === generation) return cached;
    const compiled = compileScaledObject(object);
    this.#compiled.set(key, compiled);
    return compiled;
  }

  delete(key: string): void {
    this.#compiled.delete(key);
  }
}
