import { isAlreadyExists, isConflict, isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject, ObjectMeta } from '#lib/kubernetes/kubernetes-object.ts';

/** What an object of the kind ConfigMap holds. */
export interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** What {@link MemoryStore} works with. */
export interface MemoryStoreOptions {
  readonly configMaps: ResourceClient<ConfigMap>;
  /** Whether there is an HPA; records of others are dropped when something is written. */
  readonly isKnown: (key: string) => boolean;
}

/** In each namespace that has an HPA with something to remember. */
export const MEMORY_NAME = 'autoscaler-hpa-memory';

const MOST_CONFLICTS = 5;

interface NamespaceState {
  metadata: ObjectMeta | undefined;
  records: Map<string, string>;
  /** What is to be written; `undefined` is to go. */
  readonly changes: Map<string, string | undefined>;
  /** The write that takes what changes from now on. */
  next: Promise<void> | undefined;
  last: Promise<void>;
}

/**
 * Keeps a text for each HPA, in one ConfigMap a namespace: read once, and written for all that changed meanwhile. For one
 * term of a leader.
 */
export class MemoryStore {
  readonly #options: MemoryStoreOptions;
  readonly #namespaces = new Map<string, Promise<NamespaceState>>();

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
  }

  /** The text of an HPA, as it was kept. */
  async get(namespace: string, name: string): Promise<string | undefined> {
    return (await this.#state(namespace)).records.get(name);
  }

  /** Comes back once the text is kept; those that change meanwhile are written together. */
  async put(namespace: string, name: string, text: string | undefined): Promise<void> {
    const state = await this.#state(namespace);
    if (text === undefined && !state.records.has(name) && !state.changes.has(name)) return;
    state.changes.set(name, text);
    state.next ??= state.last.then(() => {
      state.next = undefined;
      const writing = this.#write(namespace, state);
      state.last = writing.catch(() => {}); // who waits for it is told
      return writing;
    });
    await state.next;
  }

  #state(namespace: string): Promise<NamespaceState> {
    let state = this.#namespaces.get(namespace);
    if (!state) {
      const reading = this.#read(namespace).then(({ metadata, records }) => ({
        ...{ metadata, records, changes: new Map(), next: undefined, last: Promise.resolve() },
      }));
      reading.catch(() => this.#namespaces.delete(namespace));
      this.#namespaces.set(namespace, reading);
      state = reading;
    }
    return state;
  }

  async #read(namespace: string): Promise<Pick<NamespaceState, 'metadata' | 'records'>> {
    const found = await this.#options.configMaps.find({ namespace, name: MEMORY_NAME });
    return { metadata: found?.metadata, records: new Map(Object.entries(found?.data ?? {})) };
  }

  async #write(namespace: string, state: NamespaceState): Promise<void> {
    const changes = new Map(state.changes);
    state.changes.clear();
    for (let conflicts = 0; ; conflicts++) {
      try {
        const records = new Map([...new Map([...state.records, ...changes])].filter(isKept));
        for (const name of records.keys())
          if (!changes.has(name) && !this.#options.isKnown(`${namespace}/${name}`)) records.delete(name);
        state.metadata = await this.#send(namespace, state.metadata, records);
        state.records = records;
        return;
      } catch (error) {
        const isOutdated = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
        if (!isOutdated || conflicts >= MOST_CONFLICTS) {
          for (const [name, text] of changes) if (!state.changes.has(name)) state.changes.set(name, text); // with the next
          throw error;
        }
        Object.assign(state, await this.#read(namespace));
      }
    }
  }

  async #send(
    namespace: string,
    metadata: ObjectMeta | undefined,
    records: ReadonlyMap<string, string>,
  ): Promise<ObjectMeta | undefined> {
    const { configMaps } = this.#options;
    const data = Object.fromEntries(records);
    if (!metadata) {
      if (records.size === 0) return undefined;
      const labels = { 'app.kubernetes.io/managed-by': 'autoscaler' };
      return (await configMaps.create({ metadata: { namespace, name: MEMORY_NAME, labels }, data })).metadata;
    }
    if (records.size > 0) return (await configMaps.update({ metadata, data })).metadata;
    const { uid, resourceVersion } = metadata;
    await configMaps.delete(
      { namespace, name: MEMORY_NAME },
      { preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) } },
    );
    return undefined;
  }
}

function isKept(entry: readonly [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined;
}
