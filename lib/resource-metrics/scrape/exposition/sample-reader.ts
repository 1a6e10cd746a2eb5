import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';

/** Several times as many as the containers of the largest node have, which take eight at most. */
const MOST_LINES = 1_000_000;

const [TAB, CARRIAGE_RETURN, SPACE] = [0x09, 0x0d, 0x20];
const [QUOTE, HASH, COMMA, MINUS, DIGIT_0, DIGIT_9, EQUALS, BACKSLASH, OPENING, CLOSING] = [
  0x22, 0x23, 0x2c, 0x2d, 0x30, 0x39, 0x3d, 0x5c, 0x7b, 0x7d,
];

const UNESCAPED: ReadonlyMap<number, string> = new Map([
  [0x6e, '\n'],
  [QUOTE, '"'],
  [BACKSLASH, '\\'],
]);

/** The names in labels have 253 characters at most, escapes and all twice as many. */
const MAX_LABEL_LENGTH = 1024;

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const SPECIAL_VALUES: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Inf', Number.POSITIVE_INFINITY],
  ['+Inf', Number.POSITIVE_INFINITY],
  ['-Inf', Number.NEGATIVE_INFINITY],
]);

/**
 * Reads Prometheus' text format, version 0.0.4, line by line and each once from left to right: any order of labels, escapes,
 * exponents, NaN, ±Inf, with or without a timestamp.
 *
 * Each method reads what comes next in the line and says whether it is there. What it returns is cut out of the text.
 */
export class SampleReader {
  readonly #text: string;
  #lines = 0;
  /** Of the line; its end is behind the last character. */
  #start = 0;
  #end = -1;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** How many lines have been read, with this one. */
  get lines(): number {
    return this.#lines;
  }

  /** The beginning of the line, for messages. */
  get excerpt(): string {
    return this.#text.slice(this.#start, Math.min(this.#end, this.#start + 80));
  }

  /**
   * Goes on to the next line that is neither empty nor a comment.
   *
   * @returns `false` after the last
   * @throws {ExcessiveResponse} when there are more lines than the largest node has
   */
  nextLine(): boolean {
    while (this.#end < this.#text.length) {
      this.#start = this.#end + 1;
      const end = this.#text.indexOf('\n', this.#start);
      this.#end = end === -1 ? this.#text.length : end;
      if (++this.#lines > MOST_LINES)
        throw new ExcessiveResponse('parts', `the response has more than ${MOST_LINES} lines`);
      this.#position = this.#start;
      if (this.#code === HASH) continue;
      this.#skipSpace();
      const isBlank = this.#position === this.#end;
      this.#position = this.#start;
      if (!isBlank) return true;
    }
    return false;
  }

  /** @param likely the name that is tried first: samples of one name follow one another */
  name(likely: string): string | undefined {
    const start = this.#position;
    const end = start + likely.length;
    if (likely !== '' && this.#text.startsWith(likely, start) && !isNameCode(this.#text.charCodeAt(end))) {
      this.#position = end;
      return likely;
    }
    return this.#name();
  }

  /** Passes over a text, if it comes next. */
  skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#position)) return false;
    this.#position += text.length;
    return true;
  }

  /**
   * Reads labels, braces and all.
   *
   * @param onLabel told each name and value
   * @returns what was read, the empty string where the sample has none; `undefined` where it is malformed
   */
  labels(onLabel: (name: string, value: string) => void): string | undefined {
    const start = this.#position;
    if (this.#code !== OPENING) return '';
    this.#position++;
    this.#skipSpace();
    while (this.#code !== CLOSING) {
      if (!this.#label(onLabel)) return undefined;
      if (this.#code === COMMA) this.#position++;
      else if (this.#code !== CLOSING) return undefined;
      this.#skipSpace();
    }
    this.#position++;
    return this.#text.slice(start, this.#position);
  }

  /**
   * Reads the rest of the line.
   *
   * @returns the value, and milliseconds since the epoch where the line tells them; `undefined` where it is malformed
   */
  rest(): { readonly value: number; readonly timestampMs: number | undefined } | undefined {
    if (this.#skipSpace() === 0) return undefined;
    const text = this.#word(isNoSpace);
    const value = text === undefined ? undefined : parseValue(text);
    this.#skipSpace();
    const isStamped = this.#position < this.#end;
    const timestampMs = isStamped ? this.#integer() : undefined;
    this.#skipSpace();
    const isRead = value !== undefined && this.#position === this.#end;
    return isRead && (timestampMs !== undefined || !isStamped) ? { value, timestampMs } : undefined;
  }

  #label(onLabel: (name: string, value: string) => void): boolean {
    const name = this.#name();
    this.#skipSpace();
    if (name === undefined || this.#code !== EQUALS) return false;
    this.#position++;
    this.#skipSpace();
    if (this.#code !== QUOTE) return false;
    const start = ++this.#position;
    let isEscaped = false;
    while (this.#code !== QUOTE) {
      if (this.#code === BACKSLASH) {
        isEscaped = true;
        this.#position++;
      }
      if (++this.#position > this.#end) return false;
    }
    if (this.#position - start > MAX_LABEL_LENGTH) return false;
    const value = this.#text.slice(start, this.#position++);
    onLabel(name, isEscaped ? unescapeValue(value) : value);
    this.#skipSpace();
    return true;
  }

  /** A whole number; one of many digits is not exact, and out of all bounds. */
  #integer(): number | undefined {
    const isNegative = this.#code === MINUS;
    if (isNegative) this.#position++;
    const start = this.#position;
    let value = 0;
    for (let code = this.#code; isDigit(code); code = this.#code) {
      value = value * 10 + code - DIGIT_0;
      this.#position++;
    }
    if (this.#position === start) return undefined;
    return isNegative ? -value : value;
  }

  #name(): string | undefined {
    return isDigit(this.#code) ? undefined : this.#word(isNameCode);
  }

  #word(isOf: (code: number) => boolean): string | undefined {
    const start = this.#position;
    while (this.#position < this.#end && isOf(this.#code)) this.#position++;
    return this.#position === start ? undefined : this.#text.slice(start, this.#position);
  }

  /** @returns how much of it there was */
  #skipSpace(): number {
    const start = this.#position;
    while (this.#position < this.#end && !isNoSpace(this.#code)) this.#position++;
    return this.#position - start;
  }

  /** What comes next; NaN behind the line. */
  get #code(): number {
    return this.#position < this.#end ? this.#text.charCodeAt(this.#position) : Number.NaN;
  }
}

function isNameCode(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || code === 0x5f || code === 0x3a || isDigit(code);
}

function isDigit(code: number): boolean {
  return code >= DIGIT_0 && code <= DIGIT_9;
}

function isNoSpace(code: number): boolean {
  return code !== SPACE && code !== TAB && code !== CARRIAGE_RETURN;
}

/** Written out, since replacing by a function takes five times as long: a response may be nothing but escapes. */
function unescapeValue(value: string): string {
  let unescaped = '';
  let from = 0;
  for (let at = value.indexOf('\\'); at !== -1; at = value.indexOf('\\', at + 2)) {
    const character = UNESCAPED.get(value.charCodeAt(at + 1));
    if (character === undefined) continue;
    unescaped += value.slice(from, at) + character;
    from = at + 2;
  }
  return unescaped + value.slice(from);
}

function parseValue(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : SPECIAL_VALUES.get(text);
}
