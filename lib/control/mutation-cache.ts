/** Identifies versions of one object. */
interface Version {
  /** Differs where an object was deleted, and another one was created under its name. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/**
 * Objects as our own writes left them, while an informer still shows what was there before: a controller that reads its
 * own writes decides nothing twice.
 *
 * It has no more than the objects that the informer is behind of, and the versions of those that no client has changed since.
 */
export class MutationCache<T> {
  readonly #versionOf: (object: T) => Version;
  readonly #newer = new Map<string, T>();
  /** As our last write left the object, until another version is observed. */
  readonly #ownVersions = new Map<string, string>();

  /** @param versionOf the object's metadata */
  constructor(versionOf: (object: T) => Version) {
    this.#versionOf = versionOf;
  }

  /** How many objects the informer is behind of. */
  get size(): number {
    return this.#newer.size;
  }

  /**
   * An object as it is now: as it was written last, where the informer does not show that yet.
   *
   * @param observed what the informer shows; a version that is no number counts as the latest
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

  /** Notes an object as the API server returned it for a write, or for a read that was newer than the informer. */
  record(key: string, object: T): void {
    this.#newer.set(key, object);
    const { resourceVersion } = this.#versionOf(object);
    if (resourceVersion === undefined) this.#ownVersions.delete(key);
    else this.#ownVersions.set(key, resourceVersion);
  }

  /** Whether an object is in the version that was recorded last, so that no other client has changed it since. */
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
