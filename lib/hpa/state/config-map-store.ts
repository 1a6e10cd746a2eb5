import { isAlreadyExists, isConflict, isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import {
  type ConfigMap,
  getParts,
  MEMORY_NAMES,
  type MemoryPart,
  MOST_BYTES,
  placeRecords,
  placesOf,
  writePart,
  writingOrder,
} from './config-map-parts.ts';

/** What {@link MemoryStore} works with. */
interface MemoryStoreOptions {
  readonly configMaps: ResourceClient<ConfigMap>;
  /** Whether there is an HPA; records of others are dropped when something is written. */
  readonly isKnown: (key: string) => boolean;
}

const MOST_CONFLICTS = 5;

interface NamespaceState {
  parts: readonly MemoryPart[];
  /** In which part each record is. */
  places: ReadonlyMap<string, number>;
  /** What is to be written; `undefined` is to go. */
  readonly changes: Map<string, string | undefined>;
  /** The write that takes what changes from now on. */
  next: Promise<readonly string[]> | undefined;
  last: Promise<unknown>;
}

/**
 * Keeps a text for each HPA, in one ConfigMap a namespace and in more where that is full: read once, and written for all
 * that changed meanwhile. For one term of a leader.
 */
export class MemoryStore {
  readonly #options: MemoryStoreOptions;
  readonly #namespaces = new Map<string, Promise<NamespaceState>>();

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
  }

  /** The text of an HPA, as it was kept. */
  async get(namespace: string, name: string): Promise<string | undefined> {
    const { parts, places } = await this.#state(namespace);
    return parts[places.get(name) ?? -1]?.records.get(name);
  }

  /**
   * Comes back once the text is kept; those that change meanwhile are written together.
   *
   * @throws where the memory of the namespace is full; others are kept nevertheless
   */
  async put(namespace: string, name: string, text: string | undefined): Promise<void> {
    const state = await this.#state(namespace);
    if (text === undefined && !state.places.has(name) && !state.changes.has(name)) return;
    state.changes.set(name, text);
    state.next ??= state.last.then(() => {
      state.next = undefined;
      const writing = this.#write(namespace, state);
      state.last = writing.catch(() => {}); // who waits for it is told
      return writing;
    });
    const refused = await state.next;
    if (refused.includes(name)) throw new Error(fullMessage(namespace, name));
  }

  /** Lets go of a namespace: it is read again should it be asked for. */
  letGo(namespace: string): void {
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
  ): Promise<Pick<NamespaceState, 'parts' | 'places'>> {
    const parts = await getParts(this.#options.configMaps, namespace, options);
    return { parts, places: placesOf(parts) };
  }

  /** @returns the names of what did not fit */
  async #write(namespace: string, state: NamespaceState): Promise<readonly string[]> {
    const changes = new Map(state.changes);
    state.changes.clear();
    const isKnown = (name: string) => this.#options.isKnown(`${namespace}/${name}`);
    for (let conflicts = 0; ; conflicts++) {
      try {
        const { parts, refused } = placeRecords(state.parts, changes, isKnown);
        await this.#send(namespace, state, parts);
        return refused;
      } catch (error) {
        const isOutdated = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
        if (!isOutdated || conflicts >= MOST_CONFLICTS) {
          for (const [name, text] of changes) if (!state.changes.has(name)) state.changes.set(name, text); // with the next
          throw error;
        }
        // Of several, some may be there that nothing leads to.
        Object.assign(state, await this.#read(namespace, { isThorough: true }));
      }
    }
  }

  async #send(
    namespace: string,
    state: NamespaceState,
    wanted: readonly ReadonlyMap<string, string>[],
  ): Promise<void> {
    for (const place of writingOrder(state.parts, wanted)) {
      const parts = [...state.parts];
      const part = { metadata: parts[place]?.metadata, records: wanted[place] ?? NO_RECORDS };
      const isKept = parts.some(({ metadata }, later) => later > place && metadata !== undefined);
      parts[place] = await writePart(this.#options.configMaps, namespace, { place, part, isKept });
      state.parts = parts;
      state.places = placesOf(parts);
    }
  }
}

const NO_RECORDS: ReadonlyMap<string, string> = new Map();

function fullMessage(namespace: string, name: string): string {
  const megabytes = (MEMORY_NAMES.length * MOST_BYTES) / 1e6;
  return `no place is left for ${JSON.stringify(name)}: the ${MEMORY_NAMES.length} ConfigMaps ${MEMORY_NAMES[0]}… of ${namespace} hold ${megabytes} MB; HPAs in more namespaces have more`;
}

/** Knows of which HPAs something could not be kept lately, so that it is told once while it lasts in a namespace. */
export class UnkeptNames {
  readonly #names = new Map<string, Set<string>>();

  /** @returns whether it is the first of its namespace */
  failed(namespace: string, name: string): boolean {
    const names = this.#names.get(namespace);
    names?.add(name);
    if (!names) this.#names.set(namespace, new Set([name]));
    return !names;
  }

  /** Something was kept, or there is nothing to keep any more. */
  kept(namespace: string, name: string): void {
    const names = this.#names.get(namespace);
    names?.delete(name);
    if (names?.size === 0) this.#names.delete(namespace);
  }
}
