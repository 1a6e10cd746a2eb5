const SPACE = /\s/;
const MAX_LENGTH = 4096;
/** Of parts within parts. */
const MAX_DEPTH = 64;

/** Goes through the text of an expression, from its beginning to its end. */
export class Scanner {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    if (text.length > MAX_LENGTH) throw new Error(`must be no longer than ${MAX_LENGTH} characters`);
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The next character; empty at the end. */
  get next(): string {
    return this.#text[this.#at] ?? '';
  }

  skipSpace(): void {
    while (SPACE.test(this.next)) this.#at++;
  }

  /** Whether a word comes next. */
  sees(word: string): boolean {
    return this.#text.startsWith(word, this.#at);
  }

  /** Goes behind a word if it comes next. */
  takes(word: string): boolean {
    const isNext = this.sees(word);
    if (isNext) this.#at += word.length;
    return isNext;
  }

  /** Goes behind all characters that match. */
  takeWhile(isMeant: (character: string) => boolean): string {
    const start = this.#at;
    while (!this.isAtEnd && isMeant(this.next)) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  /** Goes behind what a sticky regular expression matches here. */
  takeMatch(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [match] = pattern.exec(this.#text) ?? [];
    this.#at += match?.length ?? 0;
    return match;
  }

  expect(word: string): void {
    if (!this.takes(word)) this.fail(JSON.stringify(word));
  }

  /** Goes behind a text in single or double quotes; a backslash takes the next character as it is. */
  takeQuoted(): string {
    const quote = this.next;
    this.#at++;
    let text = '';
    while (this.next !== quote) {
      if (this.isAtEnd) this.fail(`the end of a text in ${quote}`);
      if (this.next === '\\') this.#at++;
      text += this.next;
      this.#at++;
    }
    this.#at++;
    return text;
  }

  /** Reads a part within the present one. */
  within<T>(read: () => T): T {
    this.#depth++;
    if (this.#depth > MAX_DEPTH) throw new Error(`must not be nested deeper than ${MAX_DEPTH} levels`);
    const result = read();
    this.#depth--;
    return result;
  }

  /** @throws always, an Error that says what was expected where */
  fail(expected: string): never {
    const found = this.isAtEnd ? 'the end' : JSON.stringify(this.#text.slice(this.#at, this.#at + 20));
    throw new Error(`must have ${expected} at character ${this.#at + 1}, not ${found}`);
  }
}
