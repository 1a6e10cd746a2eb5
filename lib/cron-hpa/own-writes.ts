import type { CronHpa } from './cron-hpa.ts';

interface Written {
  readonly object: CronHpa;
  /** Versions that came before it, and that an informer may still show. */
  readonly overtaken: ReadonlySet<string>;
}

/** As many versions as an informer may be behind by, and far more. */
const MOST_OVERTAKEN = 100;

/**
 * Knows what was written last, while the informer still shows what was there before: a job that has been carried out
 * would seem to be due otherwise.
 */
export class OwnWrites {
  readonly #written = new Map<string, Written>();

  /** What is there now, as far as anybody here can tell. */
  latest(key: string, seen: CronHpa | undefined): CronHpa | undefined {
    const written = this.#written.get(key);
    if (!seen) this.#written.delete(key);
    else if (written?.object.resourceVersion === seen.resourceVersion && written.object !== seen) {
      this.#written.set(key, { ...written, object: seen }); // the informer has it: no need to hold it twice
    }
    return seen && written?.overtaken.has(seen.resourceVersion) && written.object.uid === seen.uid
      ? written.object
      : seen;
  }

  /** Whether an object is as we wrote it, so that nobody else can have carried out what is due. */
  isOurs(key: string, { resourceVersion }: CronHpa): boolean {
    return this.#written.get(key)?.object.resourceVersion === resourceVersion;
  }

  record(key: string, before: CronHpa, after: CronHpa): void {
    const earlier = [...(this.#written.get(key)?.overtaken ?? [])].slice(-MOST_OVERTAKEN);
    this.#written.set(key, { object: after, overtaken: new Set([...earlier, before.resourceVersion]) });
  }
}
