import { RE2JS } from 're2js';

/** Some 100 ms, during which nobody else has the event loop. */
const MAX_STEPS = 100_000;
const MEMBERS_A_STEP = 16;
const MAX_PATTERN = 256;
/** Of reading a regular expression, which may come out of the document. */
const PATTERN_STEPS = 2_000;

/**
 * How much work may be made of one document: who writes expressions and documents must not have us look through them
 * for ever.
 */
export class Budget {
  readonly #subject: string;
  #left = MAX_STEPS;
  readonly #patterns = new Map<string, RE2JS>();
  readonly #sizes = new Map<object, number>();

  /** @param subject what takes the steps, as errors name it */
  constructor(subject = 'the expression') {
    this.#subject = subject;
  }

  /** @throws when there is no more */
  spend(steps: number): void {
    this.#left -= steps;
    if (!(this.#left >= 0)) throw new ExhaustedBudget(`${this.#subject} takes more than ${MAX_STEPS} steps`);
  }

  /** How many members an object has, which are counted once. */
  sizeOf(object: object): number {
    let size = this.#sizes.get(object);
    if (size === undefined) {
      size = Object.keys(object).length;
      this.spend(size / MEMBERS_A_STEP);
      this.#sizes.set(object, size);
    }
    return size;
  }

  /** A regular expression in the syntax of RE2, which takes time linear in the text; read once. */
  patternOf(text: string): RE2JS {
    const known = this.#patterns.get(text);
    if (known) return known;
    if (text.length > MAX_PATTERN)
      throw new Error(`a regular expression must be no longer than ${MAX_PATTERN} characters`);
    this.spend(PATTERN_STEPS);
    const pattern = RE2JS.compile(text);
    this.#patterns.set(text, pattern);
    return pattern;
  }
}

/** Is not to be taken for a condition that is not met. */
export class ExhaustedBudget extends Error {}
