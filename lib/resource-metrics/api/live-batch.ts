/** What is live, and where to look for it. */
export interface LiveLookup<Usage, Live> {
  /** Another number whenever something that is live has changed. */
  revision(): number;
  /** What is live now that a usage belongs to. */
  liveOf(usage: Usage): Live | undefined;
}

/**
 * The metrics of usages of one moment, sorted by name, for as many of them as are live: one and the same array for
 * as long as all that is live of them stays the same.
 */
export class LiveBatch<Usage, Live, Metrics> {
  readonly #usages: readonly Usage[];
  readonly #lookup: LiveLookup<Usage, Live>;
  readonly #make: (usage: Usage, live: Live) => Metrics;
  /** When we last looked what is live. */
  #revision = Number.NaN;
  /** What was live of each usage when the batch was made. */
  #lives: readonly (Live | undefined)[] = [];
  #batch: readonly Metrics[] | undefined;
  /** Of each usage what somebody may have been told first. */
  readonly #told: (Metrics | undefined)[] = [];

  /** @param usages sorted by name */
  constructor(
    usages: readonly Usage[],
    lookup: LiveLookup<Usage, Live>,
    make: (usage: Usage, live: Live) => Metrics,
  ) {
    this.#usages = usages;
    this.#lookup = lookup;
    this.#make = make;
  }

  /** How many usages {@link current} has to look up. */
  get pending(): number {
    return this.#batch && this.#lookup.revision() === this.#revision ? 0 : this.#usages.length;
  }

  current(): readonly Metrics[] {
    const revision = this.#lookup.revision();
    if (this.#batch && (revision === this.#revision || this.#isUnchanged())) {
      this.#revision = revision;
      return this.#batch;
    }
    this.#revision = revision;
    const batch: Metrics[] = [];
    this.#lives = this.#usages.map((usage) => this.#lookup.liveOf(usage));
    this.#usages.forEach((usage, index) => {
      const live = this.#lives[index];
      if (live === undefined) return;
      const metrics = this.#make(usage, live);
      batch.push(metrics);
      this.#told[index] ??= metrics;
    });
    this.#batch = batch;
    return batch;
  }

  /**
   * Everything that anybody may have been told so far, though some of it may be gone or changed by now: what a
   * watcher who begins here is told next makes up for that.
   */
  told(): readonly Metrics[] {
    if (!this.#batch) this.current();
    return this.#told.filter((metrics) => metrics !== undefined);
  }

  #isUnchanged(): boolean {
    return this.#usages.every((usage, index) => this.#lookup.liveOf(usage) === this.#lives[index]);
  }
}
