import type { ResourceType } from './resource-type.ts';

/** Everything that the API server serves itself, which CustomResourceDefinitions add to. */
export class ResourceRegistry {
  readonly #builtIn: readonly ResourceType[];
  readonly #custom = new Map<string, readonly ResourceType[]>();

  constructor(builtIn: readonly ResourceType[]) {
    this.#builtIn = builtIn;
  }

  /** In the order of discovery. */
  all(): readonly ResourceType[] {
    return [...this.#builtIn, ...[...this.#custom.values()].flat()];
  }

  /** @returns `undefined` when no such resource is served here */
  find(group: string, version: string, resource: string): ResourceType | undefined {
    const isMeant = (type: ResourceType) =>
      type.resource === resource && type.group === group && type.version === version;
    return this.#builtIn.find(isMeant) ?? this.#custom.get(`${resource}.${group}`)?.find(isMeant);
  }

  /** Some version of what the store keeps under a name. */
  storedAs(storage: string): ResourceType | undefined {
    return this.#builtIn.find((type) => type.storage === storage) ?? this.#custom.get(storage)?.[0];
  }

  /** Some resource of a kind, whatever its version. */
  ofKind(group: string, kind: string): ResourceType | undefined {
    return this.all().find((type) => type.group === group && type.kind === kind);
  }

  /** Everything that is kept in the store, one version each. */
  stored(): readonly ResourceType[] {
    const types = this.all().filter(({ verbs }) => verbs.includes('list'));
    return [...new Map(types.map((type) => [type.storage, type])).values()];
  }

  /** Serves a custom resource from now on, in place of what was served for it; none takes it away. */
  setCustom(storage: string, types: readonly ResourceType[]): void {
    if (types.length === 0) this.#custom.delete(storage);
    else this.#custom.set(storage, types);
  }
}
