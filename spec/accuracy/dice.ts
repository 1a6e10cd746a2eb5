import { seededFraction } from '#simulator/random.ts';

/** Chance that falls the same way for the same seed. */
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

  /** A number from one up to another. */
  between(from: number, to: number): number {
    return from + this.fraction() * (to - from);
  }

  /** @returns `undefined` where there is nothing to choose from */
  oneOf<T>(choices: readonly T[]): T | undefined {
    return choices[Math.floor(this.fraction() * choices.length)];
  }

  /** How long until something happens next that happens once in a while. */
  waitMs(meanMs: number): number {
    return -Math.log(1 - this.fraction()) * meanMs;
  }
}
