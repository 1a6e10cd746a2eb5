import { isAlreadyExists, isConflict, isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { type ResourceClient, retryOnConflict } from '#lib/kubernetes/client/resource-client.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  assignRecords,
  CONFIG_MAP_NAMES,
  type ConfigMap,
  findPartIndexes,
  getParts,
  MAX_BYTES,
  type StatePart,
  writePart,
  writingOrder,
} from './config-map-parts.ts';

interface ConfigMapStoreOptions {
  readonly configMaps: ResourceClient<ConfigMap>;
  /** Whether the HPA exists; a write drops records of other ones. */
  readonly isKnown: (key: string) => boolean;
  readonly clock: Clock;
}

interface NamespaceState {
  parts: readonly StatePart[];
  /** The part of each record. */
  indexes: ReadonlyMap<string, number>;
  /** Records to write; `undefined` removes one. */
  readonly changes: Map<string, string | undefined>;
  /** The write that takes later changes. */
  next: Promise<readonly string[]> | undefined;
  last: Promise<unknown>;
}

/**
 * Persists a text for each HPA, in one or more ConfigMaps per namespace. A namespace is read once, and changes that arrive
 * during a write are written together. For one leadership term.
 */
export class ConfigMapStore {
  readonly #options: ConfigMapStoreOptions;
  readonly #namespaces = new Map<string, Promise<NamespaceState>>();

  constructor(options: ConfigMapStoreOptions) {
    this.#options = options;
  }

  /** The persisted text of an HPA. */
  async get(namespace: string, name: string): Promise<string | undefined> {
    const { parts, indexes } = await this.#state(namespace);
    return parts[indexes.get(name) ?? -1]?.records.get(name);
  }

  /**
   * Resolves once the text is persisted; concurrent changes are written together.
   *
   * @throws when the ConfigMaps of the namespace are full; other records are persisted nevertheless
   */
  async put(namespace: string, name: string, text: string | undefined): Promise<void> {
    const state = await this.#state(namespace);
    if (text === undefined && !state.indexes.has(name) && !state.changes.has(name)) return;
    state.changes.set(name, text);
    state.next ??= state.last.then(() => {
      state.next = undefined;
      const writing = this.#write(namespace, state);
      state.last = writing.catch(() => {}); // its callers get the error
      return writing;
    });
    const refused = await state.next;
    if (refused.includes(name)) throw new Error(fullMessage(namespace, name));
  }

  /** Evicts a namespace; it is read again when needed. */
  release(namespace: string): void {
    this.#namespaces.delete(namespace);
  }

  #state(namespace: string): Promise<NamespaceState> {
    let state = this.#namespaces.get(namespace);
    if (!state) {
      const reading = this.#read(namespace).then((read) => ({
        ...read,
        changes: new Map(),
        next: undefined,
        last: Promise.resolve(),
      }));
      reading.catch(() => this.#namespaces.delete(namespace));
      this.#namespaces.set(namespace, reading);
      state = reading;
    }
    return state;
  }

  async #read(
    namespace: string,
    options: { readonly isThorough?: boolean } = {},
  ): Promise<Pick<NamespaceState, 'parts' | 'indexes'>> {
    const parts = await getParts(this.#options.configMaps, namespace, options);
    return { parts, indexes: findPartIndexes(parts) };
  }

  /** @returns the names of records that did not fit */
  async #write(namespace: string, state: NamespaceState): Promise<readonly string[]> {
    const changes = new Map(state.changes);
    state.changes.clear();
    const isKnown = (name: string) => this.#options.isKnown(`${namespace}/${name}`);
    const write = async ({ parts: current }: Pick<NamespaceState, 'parts'>) => {
      const { parts, refused } = assignRecords(current, changes, isKnown);
      await this.#send(namespace, state, parts);
      return refused;
    };
    // A part may exist beyond missing ones.
    const reread = async () => Object.assign(state, await this.#read(namespace, { isThorough: true }));
    try {
      return await retryOnConflict(state, write, { reread, isOutdated, clock: this.#options.clock });
    } catch (error) {
      for (const [name, text] of changes) if (!state.changes.has(name)) state.changes.set(name, text); // with the next write
      throw error;
    }
  }

  async #send(
    namespace: string,
    state: NamespaceState,
    desired: readonly ReadonlyMap<string, string>[],
  ): Promise<void> {
    for (const index of writingOrder(state.parts, desired)) {
      const parts = [...state.parts];
      const part = { metadata: parts[index]?.metadata, records: desired[index] ?? NO_RECORDS };
      const isRetained = parts.some(({ metadata }, later) => later > index && metadata !== undefined);
      parts[index] = await writePart(this.#options.configMaps, namespace, { index, part, isRetained });
      state.parts = parts;
      state.indexes = findPartIndexes(parts);
    }
  }
}

/** Whether another client has changed, created or deleted a ConfigMap since it was read. */
function isOutdated(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}

const NO_RECORDS: ReadonlyMap<string, string> = new Map();

function fullMessage(namespace: string, name: string): string {
  const megabytes = (CONFIG_MAP_NAMES.length * MAX_BYTES) / 1e6;
  return `no room for ${JSON.stringify(name)}: the ${CONFIG_MAP_NAMES.length} ConfigMaps ${CONFIG_MAP_NAMES[0]}… of ${namespace} contain ${megabytes} MB; distribute HPAs over more namespaces`;
}

/** HPAs whose state could not be persisted, so that a failure is reported once per namespace while it lasts. */
export class PersistFailures {
  readonly #names = new Map<string, Set<string>>();

  /** @returns whether it is the first failure in its namespace */
  failed(namespace: string, name: string): boolean {
    const names = this.#names.get(namespace);
    names?.add(name);
    if (!names) this.#names.set(namespace, new Set([name]));
    return !names;
  }

  /** Records that the state is persisted, or that none is left to persist. */
  succeeded(namespace: string, name: string): void {
    const names = this.#names.get(namespace);
    names?.delete(name);
    if (names?.size === 0) this.#names.delete(namespace);
  }
}
