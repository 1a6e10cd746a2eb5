import { seededFraction } from '#simulator/random.ts';

/** Random numbers that are the same for the same seed. */
export class Dice {
  readonly #seed: number;
  #count = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** A number in [0, 1). */
  fraction(): number {
    return seededFraction(this.#seed, this.#count++);
  }

  /** A number in [from, to). */
  between(from: number, to: number): number {
    return from + this.fraction() * (to - from);
  }

  /** @returns `undefined` if there are no choices */
  oneOf<T>(choices: readonly T[]): T | undefined {
    return choices[Math.floor(this.fraction() * choices.length)];
  }

  /** A random time until the next event, for a mean time between events. */
  waitMs(meanMs: number): number {
    return -Math.log(1 - this.fraction()) * meanMs;
  }
}
