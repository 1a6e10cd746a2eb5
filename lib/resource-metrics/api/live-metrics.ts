import type { TimeSlices } from '#lib/concurrency/event-loop.ts';

export interface LiveLookup<Usage, Live> {
  /** Changes with every change of a live object. */
  revision(): number;
  /** Finds the live object of a usage. */
  liveOf(usage: Usage): Live | undefined;
}

interface LiveMetricsOptions<Usage, Live, Metrics> extends LiveLookup<Usage, Live> {
  readonly order: NameOrder;
  readonly make: (usage: Usage, live: Live) => Metrics;
}

/**
 * The metrics of the live objects in one snapshot, sorted by name. Returns the same array until a live object
 * changes.
 */
export class LiveMetrics<Usage, Live, Metrics> {
  readonly #byName: ReadonlyMap<string, Usage>;
  readonly #options: LiveMetricsOptions<Usage, Live, Metrics>;
  #sorted: readonly Usage[] | undefined;
  /** Revision of the last lookup. */
  #revision = Number.NaN;
  /** The live object of each usage in `#current`. */
  #lives: readonly (Live | undefined)[] = [];
  #current: readonly Metrics[] | undefined;
  #making: Promise<readonly Metrics[]> | undefined;
  /** The first metrics created for each usage, which a client may have received. */
  readonly #firstSent: (Metrics | undefined)[] = [];

  /** @param usages by name */
  constructor(usages: ReadonlyMap<string, Usage>, options: LiveMetricsOptions<Usage, Live, Metrics>) {
    this.#byName = usages;
    this.#options = options;
  }

  /** Number of usages that {@link current} would have to look up. */
  get pending(): number {
    return this.#current && this.#options.revision() === this.#revision ? 0 : this.#byName.size;
  }

  current(): readonly Metrics[] {
    const { revision, liveOf } = this.#options;
    const now = revision();
    if (this.#current && now === this.#revision) return this.#current;
    const lives = this.#usages.map((usage) => liveOf(usage));
    return this.#unchanged(now, lives) ?? this.#replace(now, lives, this.#makeAll(lives));
  }

  /** Like {@link current}, in time slices; changes after the first call may be included or not. */
  currentInSlices(slices: TimeSlices): Promise<readonly Metrics[]> {
    this.#making ??= this.#makeInSlices(slices).finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  /**
   * All metrics that a client may have received, including removed and changed ones. Events of a watch that starts
   * here are relative to them.
   */
  possiblySent(): readonly Metrics[] {
    if (!this.#current) this.current();
    return this.#firstSent.filter((metrics) => metrics !== undefined);
  }

  get #usages(): readonly Usage[] {
    this.#sorted ??= this.#options.order.sort(this.#byName);
    return this.#sorted;
  }

  async #makeInSlices(slices: TimeSlices): Promise<readonly Metrics[]> {
    if (this.pending === 0) return this.current();
    const { revision, liveOf } = this.#options;
    const [previous, previousRevision, now] = [this.#current, this.#revision, revision()];
    const lives: (Live | undefined)[] = [];
    for (const usage of this.#usages) {
      lives.push(liveOf(usage));
      if (slices.isSliceSpent()) await slices.yieldToEventLoop();
    }
    const made: (Metrics | undefined)[] = [];
    if (!this.#isOf(lives)) {
      for (const index of lives.keys()) {
        made.push(this.#make(index, lives));
        if (slices.isSliceSpent()) await slices.yieldToEventLoop();
      }
    }
    const isOvertaken = this.#current !== previous || !Object.is(this.#revision, previousRevision);
    if (isOvertaken) return this.current(); // a synchronous call replaced them
    return this.#unchanged(now, lives) ?? this.#replace(now, lives, made);
  }

  /** Returns the current metrics if the live objects are unchanged. */
  #unchanged(revision: number, lives: readonly (Live | undefined)[]): readonly Metrics[] | undefined {
    if (!this.#isOf(lives)) return undefined;
    this.#revision = revision;
    return this.#current;
  }

  #isOf(lives: readonly (Live | undefined)[]): boolean {
    return this.#current !== undefined && lives.every((live, index) => live === this.#lives[index]);
  }

  #makeAll(lives: readonly (Live | undefined)[]): readonly (Metrics | undefined)[] {
    return lives.map((_live, index) => this.#make(index, lives));
  }

  #make(index: number, lives: readonly (Live | undefined)[]): Metrics | undefined {
    const [usage, live] = [this.#usages[index], lives[index]];
    return usage === undefined || live === undefined ? undefined : this.#options.make(usage, live);
  }

  #replace(
    revision: number,
    lives: readonly (Live | undefined)[],
    made: readonly (Metrics | undefined)[],
  ): readonly Metrics[] {
    made.forEach((metrics, index) => {
      this.#firstSent[index] ??= metrics;
    });
    this.#revision = revision;
    this.#lives = lives;
    this.#current = made.filter((metrics) => metrics !== undefined);
    return this.#current;
  }
}

/** Sorts by name. Reuses the previous order if the names are the same, which they nearly always are. */
export class NameOrder {
  #names: readonly string[] = [];

  /** @returns the values by name, in the order of UTF-16 code units */
  sort<T>(named: ReadonlyMap<string, T>): readonly T[] {
    return this.#asBefore(named) ?? this.#sortAgain(named);
  }

  #asBefore<T>(named: ReadonlyMap<string, T>): readonly T[] | undefined {
    if (named.size !== this.#names.length) return undefined;
    const sorted: T[] = [];
    for (const name of this.#names) {
      const one = named.get(name);
      if (one === undefined) return undefined;
      sorted.push(one);
    }
    return sorted;
  }

  #sortAgain<T>(named: ReadonlyMap<string, T>): readonly T[] {
    this.#names = [...named.keys()].sort();
    return this.#names.map((name) => named.get(name) as T);
  }
}
