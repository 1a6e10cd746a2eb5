/** A text of millions of unreadable lines is no response with as many errors. */
const MOST_HELD = 1000;

/** What had to be left out of a response because it could not be read, in words; the first thousand. */
export class IgnoredParts {
  readonly #held: string[] = [];

  note(part: string): void {
    if (this.#held.length < MOST_HELD) this.#held.push(part);
  }

  get held(): readonly string[] {
    return this.#held;
  }
}
