export interface ErrorTally {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
}

/** Collects numbers and computes their quantiles. */
export class Quantiles {
  #values = new Float64Array(1024);
  #count = 0;

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const grown = new Float64Array(2 * this.#count);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#count++] = value;
  }

  tally(): ErrorTally {
    const sorted = this.#values.slice(0, this.#count).sort();
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return { count: sorted.length, median: at(0.5), p99: at(0.99), worst: sorted.at(-1) ?? 0 };
  }
}

export class Counts {
  readonly #counts = new Map<string, number>();

  add(name: string): void {
    this.#counts.set(name, this.of(name) + 1);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  entries(): readonly (readonly [string, number])[] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
