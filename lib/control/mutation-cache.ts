/** Identifies versions of one object. */
interface Version {
  /** Differs where an object was deleted, and another one was created under its name. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/**
 * Objects as our own writes left them, while an informer still has the previous version: a controller that reads its
 * own writes decides nothing twice.
 *
 * It contains only the objects for which the informer is behind, and the versions of those that no other client has
 * changed since.
 */
export class MutationCache<T> {
  readonly #versionOf: (object: T) => Version;
  readonly #newer = new Map<string, T>();
  /** Versions of our last writes, until another version is observed. */
  readonly #ownVersions = new Map<string, string>();

  /** @param versionOf the object's metadata */
  constructor(versionOf: (object: T) => Version) {
    this.#versionOf = versionOf;
  }

  /** Number of objects for which the informer is behind. */
  get size(): number {
    return this.#newer.size;
  }

  /**
   * The current object: as last written, while the informer does not have that version yet.
   *
   * @param observed the informer's object; a version that is not a number counts as the latest
   */
  latest(key: string, observed: T | undefined): T | undefined {
    const written = this.#newer.get(key);
    if (written === undefined || observed === undefined) {
      if (observed === undefined || !this.isOwn(key, observed)) this.delete(key);
      return observed;
    }
    const [before, now] = [this.#versionOf(observed), this.#versionOf(written)];
    const isSameObject = before.uid === now.uid;
    if (isSameObject && Number(before.resourceVersion) < Number(now.resourceVersion)) return written;
    this.#newer.delete(key);
    if (!isSameObject || !this.isOwn(key, observed)) this.#ownVersions.delete(key);
    return observed;
  }

  /** Records an object that the API server returned for a write, or for a read that was newer than the informer. */
  record(key: string, object: T): void {
    this.#newer.set(key, object);
    const { resourceVersion } = this.#versionOf(object);
    if (resourceVersion === undefined) this.#ownVersions.delete(key);
    else this.#ownVersions.set(key, resourceVersion);
  }

  /** Whether an object has the version that was recorded last, so that no other client has changed it since. */
  isOwn(key: string, object: T): boolean {
    const own = this.#ownVersions.get(key);
    return own !== undefined && own === this.#versionOf(object).resourceVersion;
  }

  delete(key: string): void {
    this.#newer.delete(key);
    this.#ownVersions.delete(key);
  }

  clear(): void {
    this.#newer.clear();
    this.#ownVersions.clear();
  }
}
