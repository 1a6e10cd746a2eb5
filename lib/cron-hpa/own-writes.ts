import type { CronHpa } from './cron-hpa.ts';

interface Known {
  /** The latest that was written here or shown by the informer. */
  readonly latest: CronHpa;
  /** As the last write here left it. */
  readonly ownVersion: string;
}

/**
 * Knows what was written last, while the informer still shows what was there before: a job that has been carried out
 * would seem to be due otherwise.
 */
export class OwnWrites {
  readonly #known = new Map<string, Known>();

  /** What is there now, as far as anybody here can tell. */
  latest(key: string, seen: CronHpa | undefined): CronHpa | undefined {
    const known = this.#known.get(key);
    if (!known || !seen || known.latest.uid !== seen.uid) {
      this.#known.delete(key); // gone, or another one of that name
      return seen;
    }
    if (isOlder(seen, known.latest)) return known.latest;
    if (known.latest !== seen) this.#known.set(key, { ...known, latest: seen }); // held by the informer, too
    return seen;
  }

  /** Hears of what the informer shows from now on, so that nothing is held twice until it is looked at again. */
  show(key: string, seen: CronHpa | undefined): void {
    this.latest(key, seen);
  }

  /** Whether an object is as we wrote it, so that nobody else can have carried out what is due. */
  isOurs(key: string, { resourceVersion }: CronHpa): boolean {
    return this.#known.get(key)?.ownVersion === resourceVersion;
  }

  record(key: string, after: CronHpa): void {
    this.#known.set(key, { latest: after, ownVersion: after.resourceVersion });
  }
}

/** Versions of one resource rise, as informers rely on, too; one that is no number is as good as any. */
function isOlder(one: CronHpa, than: CronHpa): boolean {
  return Number(one.resourceVersion) < Number(than.resourceVersion);
}
