import type { ScaledHpa } from '../collected-metrics.ts';
import type { CollectedHpa, CollectedMetric } from './collected-hpa.ts';

const END = ' samples; the first is used';

/** In notes of a reading. */
export function severalSamples(count: number): string {
  return `The query returned ${count}${END}`;
}

/** The note of a reading with several samples; `undefined` for one sample. */
export function severalSamplesNote(notes: readonly string[] = []): string | undefined {
  return notes.find((one) => one.endsWith(END));
}

/** Records an event on an HPA, about one of its metrics. */
type QueryNoticeListener = (hpa: ScaledHpa, metric: CollectedMetric, note: string) => void;

/** Records a note about a query once on each HPA that uses it, as long as the query has the note. */
export class QueryNotices {
  readonly #collected: ReadonlyMap<string, CollectedHpa>;
  readonly #record: QueryNoticeListener;
  /** By the keys of queries; with the keys of the HPAs on which it is recorded. */
  readonly #notices = new Map<string, { readonly note: string; readonly owners: Set<string> }>();

  constructor(collected: ReadonlyMap<string, CollectedHpa>, record: QueryNoticeListener) {
    this.#collected = collected;
    this.#record = record;
  }

  /**
   * Updates the note of a query after each request.
   *
   * @param note `undefined` without a note, so that the next one is recorded again
   */
  update(key: string, note: string | undefined): void {
    if (note === undefined) this.#notices.delete(key);
    if (note === undefined || this.#notices.has(key)) return;
    this.#notices.set(key, { note, owners: new Set() });
    for (const owner of this.#collected.keys()) this.#recordOn(owner);
    if (this.#notices.get(key)?.owners.size === 0) this.#notices.delete(key);
  }

  /** Records existing notes after the collected metrics of an HPA have changed. */
  changed(owner: string): void {
    this.#recordOn(owner);
    const keys = new Set(this.#collected.get(owner)?.metrics.map(({ query }) => query.key));
    for (const [key, { owners }] of this.#notices)
      if (!keys.has(key) && owners.delete(owner) && owners.size === 0) this.#notices.delete(key);
  }

  #recordOn(owner: string): void {
    const { hpa, metrics = [] } = this.#collected.get(owner) ?? {};
    if (!hpa) return;
    for (const metric of metrics) {
      const notice = this.#notices.get(metric.query.key);
      if (!notice || notice.owners.has(owner)) continue;
      notice.owners.add(owner);
      this.#record(hpa, metric, notice.note);
    }
  }

  /** Number of queries with a note. */
  get size(): number {
    return this.#notices.size;
  }
}
