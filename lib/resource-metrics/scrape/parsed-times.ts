/** As many as a large node's answer has, several times over. */
const MOST_HELD = 10_000;

/** Reads RFC 3339 times; those that were read lately are not read again, for most are the same in many answers. */
export class ParsedTimes {
  readonly #held = new Map<string, number | undefined>();

  /** In milliseconds since the Unix epoch; Go's zero time, of the year 1, is none, and so is what is no time. */
  read(text: string): number | undefined {
    if (this.#held.has(text)) return this.#held.get(text);
    if (this.#held.size >= MOST_HELD) this.#held.clear();
    const parsed = Date.parse(text);
    const time = parsed > 0 ? parsed : undefined;
    this.#held.set(text, time);
    return time;
  }
}
