import type { Reading } from '#lib/collection/poll-results.ts';
import type { Query } from '#lib/sources/query.ts';
import type { ScaledHpa } from '../objects/scaled-hpa.ts';
import type { CollectedHpa, CollectedMetric } from './collected-hpa.ts';

const END = ' samples, of which the first counts';

/** As notes of a reading say it. */
export function severalSamples(count: number): string {
  return `The query gives ${count}${END}`;
}

/** Whom to tell that one of several samples counts. */
export type SeveralSamplesListener = (hpa: ScaledHpa, metric: CollectedMetric, note: string) => void;

/** Tells of queries that give several samples where one counts, once for each HPA while they do. */
export class SeveralSamplesTold {
  readonly #known: ReadonlyMap<string, CollectedHpa>;
  readonly #tell: SeveralSamplesListener;
  /** By the keys of queries; with the keys of the HPAs that were told. */
  readonly #told = new Map<string, { readonly note: string; readonly owners: Set<string> }>();

  constructor(known: ReadonlyMap<string, CollectedHpa>, tell: SeveralSamplesListener) {
    this.#known = known;
    this.#tell = tell;
  }

  /** Takes notice of what a query gave. */
  look({ key }: Query, reading: Reading | undefined): void {
    const note = reading?.notes.find((one) => one.endsWith(END));
    if (note === undefined) this.#told.delete(key);
    if (note === undefined || this.#told.has(key)) return;
    this.#told.set(key, { note, owners: new Set() });
    for (const owner of this.#known.keys()) this.#tellOwner(owner);
    if (this.#told.get(key)?.owners.size === 0) this.#told.delete(key);
  }

  /** Takes notice that what is collected for an HPA has changed. */
  changed(owner: string): void {
    this.#tellOwner(owner);
    const keys = new Set(this.#known.get(owner)?.metrics.map(({ query }) => query.key));
    for (const [key, { owners }] of this.#told)
      if (!keys.has(key) && owners.delete(owner) && owners.size === 0) this.#told.delete(key);
  }

  #tellOwner(owner: string): void {
    const { hpa, metrics = [] } = this.#known.get(owner) ?? {};
    if (!hpa) return;
    for (const metric of metrics) {
      const told = this.#told.get(metric.query.key);
      if (!told || told.owners.has(owner)) continue;
      told.owners.add(owner);
      this.#tell(hpa, metric, told.note);
    }
  }

  /** How many queries are remembered. */
  get size(): number {
    return this.#told.size;
  }
}
