import type { TimeSlices } from '#lib/concurrency/event-loop.ts';

/** What is live, and where to look for it. */
export interface LiveLookup<Usage, Live> {
  /** Another number whenever something that is live has changed. */
  revision(): number;
  /** What is live now that a usage belongs to. */
  liveOf(usage: Usage): Live | undefined;
}

/** What is made of usages of one moment. */
interface LiveMetricsOptions<Usage, Live, Metrics> extends LiveLookup<Usage, Live> {
  readonly order: NameOrder;
  readonly make: (usage: Usage, live: Live) => Metrics;
}

/**
 * The metrics of usages of one moment, sorted by name, for as many of them as are live: one and the same array for
 * as long as all that is live of them stays the same.
 */
export class LiveMetrics<Usage, Live, Metrics> {
  readonly #byName: ReadonlyMap<string, Usage>;
  readonly #options: LiveMetricsOptions<Usage, Live, Metrics>;
  #sorted: readonly Usage[] | undefined;
  /** When we last looked what is live. */
  #revision = Number.NaN;
  /** What was live of each usage when they were made. */
  #lives: readonly (Live | undefined)[] = [];
  #current: readonly Metrics[] | undefined;
  #making: Promise<readonly Metrics[]> | undefined;
  /** Of each usage what somebody may have been told first. */
  readonly #firstSent: (Metrics | undefined)[] = [];

  /** @param usages by name */
  constructor(usages: ReadonlyMap<string, Usage>, options: LiveMetricsOptions<Usage, Live, Metrics>) {
    this.#byName = usages;
    this.#options = options;
  }

  /** How many usages {@link current} has to look up. */
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

  /** The same, except that others go on while it is made: what changes from when the first asked for it may be in it or not. */
  currentInSlices(slices: TimeSlices): Promise<readonly Metrics[]> {
    this.#making ??= this.#makeInSlices(slices).finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  /**
   * Everything that anybody may have been told so far, though some of it may be gone or changed by now: what a
   * watcher who begins here is told next makes up for that.
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
    const [before, lookedAt, now] = [this.#current, this.#revision, revision()];
    const lives: (Live | undefined)[] = [];
    for (const usage of this.#usages) {
      lives.push(liveOf(usage));
      if (slices.sliceIsSpent()) await slices.yieldToEventLoop();
    }
    const made: (Metrics | undefined)[] = [];
    if (!this.#isOf(lives)) {
      for (const index of lives.keys()) {
        made.push(this.#make(index, lives));
        if (slices.sliceIsSpent()) await slices.yieldToEventLoop();
      }
    }
    const isOvertaken = this.#current !== before || !Object.is(this.#revision, lookedAt);
    if (isOvertaken) return this.current(); // by somebody who could not wait
    return this.#unchanged(now, lives) ?? this.#replace(now, lives, made);
  }

  /** The current metrics, if they are of these. */
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

/** Sorts by name what has nearly always the same names as before, which is many times quicker to see than to sort again. */
export class NameOrder {
  #names: readonly string[] = [];

  /** What there is, by its names, in the order of UTF-16 code units. */
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
