import type { ObjectKey, SecretOrConfigMap } from '../objects/common-fields.ts';
import { refuse } from '../objects/refusal.ts';
import type { ObjectSet } from './object-set.ts';

/** Reads the Secrets and ConfigMaps of one namespace, to which an object refers. */
export class References {
  readonly namespace: string;
  readonly #objects: ObjectSet;
  readonly #assumesPresent: boolean;

  /** @param assumesPresent whether an object that is not in the set counts as present, with a placeholder as each value */
  constructor(
    objects: ObjectSet,
    namespace: string,
    { assumesPresent }: { readonly assumesPresent: boolean },
  ) {
    this.#objects = objects;
    this.namespace = namespace;
    this.#assumesPresent = assumesPresent;
  }

  /** @throws {Refusal} if the Secret or the key does not exist */
  secret(key: ObjectKey): string {
    return this.#value('Secret', key);
  }

  /** @throws {Refusal} if neither is given, or the object or the key does not exist */
  either({ secret, configMap }: SecretOrConfigMap): string {
    if (secret !== undefined) return this.secret(secret);
    if (configMap !== undefined) return this.#value('ConfigMap', configMap);
    return refuse('neither secret nor configMap is given');
  }

  /** Whether the value of a key is unknown, since its object is only assumed to exist. */
  isAssumed(kind: 'Secret' | 'ConfigMap', { name }: ObjectKey): boolean {
    return (
      this.#assumesPresent && this.#objects.data(kind, { namespace: this.namespace, name }) === undefined
    );
  }

  #value(kind: 'Secret' | 'ConfigMap', key: ObjectKey): string {
    const what = kind.toLowerCase();
    const data = this.#objects.data(kind, { namespace: this.namespace, name: key.name });
    if (data === undefined) {
      if (this.#assumesPresent) return `<${what} ${this.namespace}/${key.name}, key ${key.key}>`;
      return refuse(`unable to get ${what} "${key.name}": ${what}s "${key.name}" not found`);
    }
    const value = data.get(key.key);
    return value ?? refuse(`key "${key.key}" in ${what} "${key.name}" not found`);
  }
}
