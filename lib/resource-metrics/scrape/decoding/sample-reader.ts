import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';

/** Several times as many as the containers of the largest node have, which take eight at most. */
const MOST_LINES = 1_000_000;

const LINE_FEED = 0x0a;
const [QUOTE, HASH, COMMA, EQUALS, BACKSLASH, OPENING, CLOSING] = [0x22, 0x23, 0x2c, 0x3d, 0x5c, 0x7b, 0x7d];

/** The names in labels have 253 characters at most, escapes and all twice as many. */
const MAX_LABEL_LENGTH = 1024;

/** What is shown of a line, in characters, and the most bytes that these can have. */
const [EXCERPT_LENGTH, EXCERPT_BYTES] = [80, 240];

/** A part of the body: from the one place up to the other. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads Prometheus' text format, version 0.0.4, line by line and each once from left to right: any order of labels, escapes,
 * exponents, NaN, ±Inf, with or without a timestamp.
 *
 * Each method reads what comes next in the line and says whether it is there. Bytes are looked at where they lie: comparing what was
 * read before as a text takes five times as long, and each text has to be collected. Texts that are returned have memory of their own.
 */
export class SampleReader {
  readonly #body: Buffer;
  readonly #decimal = new ShortDecimal();
  #lines = 0;
  /** Of the line; its end is behind the last byte. */
  #start = 0;
  #end = -1;
  #position = 0;
  /** The name that was read last. */
  #name = '';

  /** @param body UTF-8 text, in memory that does not change its size */
  constructor(body: Buffer) {
    this.#body = body;
  }

  /** How many lines have been read, with this one. */
  get lines(): number {
    return this.#lines;
  }

  /** The beginning of the line, for messages. */
  get excerpt(): string {
    const end = Math.min(this.#end, this.#start + EXCERPT_BYTES);
    return this.#body.toString('utf8', this.#start, end).slice(0, EXCERPT_LENGTH);
  }

  /**
   * Goes on to the next line that is neither empty nor a comment.
   *
   * @returns `false` after the last
   * @throws {ExcessiveResponse} when there are more lines than the largest node has
   */
  nextLine(): boolean {
    while (this.#end < this.#body.length) {
      this.#start = this.#end + 1;
      const end = this.#body.indexOf(LINE_FEED, this.#start);
      this.#end = end === -1 ? this.#body.length : end;
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

  /** @returns the name of a sample; the very same text where it is that of the sample before, as samples of one name follow one another */
  name(): string | undefined {
    const start = this.#position;
    if (this.#name !== '' && this.#skipText(this.#name)) {
      if (!isNameCode(this.#code)) return this.#name;
      this.#position = start;
    }
    const name = this.#readName();
    if (name === undefined) return undefined;
    this.#name = this.#body.toString('latin1', name.start, name.end);
    return this.#name;
  }

  /** Passes over the labels by which kubelets name a container, if they come next: names that need no escapes. */
  skipNames(container: string, pod: { readonly namespace: string; readonly name: string }): boolean {
    const start = this.#position;
    const isAhead =
      this.#skipText('{container="') &&
      this.#skipText(container) &&
      this.#skipText('",namespace="') &&
      this.#skipText(pod.namespace) &&
      this.#skipText('",pod="') &&
      this.#skipText(pod.name) &&
      this.#skipText('"}');
    if (!isAhead) this.#position = start;
    return isAhead;
  }

  /**
   * Reads labels, braces and all.
   *
   * @param onLabel told where each name is, and where its value, which {@link text} makes a text of
   * @returns what was read, nothing where the sample has none; `undefined` where it is malformed
   */
  labels(onLabel: (name: Span, value: Span) => void): Span | undefined {
    const start = this.#position;
    if (this.#code !== OPENING) return { start, end: start };
    this.#position++;
    this.#skipSpace();
    while (this.#code !== CLOSING) {
      if (!this.#label(onLabel)) return undefined;
      if (this.#code === COMMA) this.#position++;
      else if (this.#code !== CLOSING) return undefined;
      this.#skipSpace();
    }
    this.#position++;
    return { start, end: this.#position };
  }

  /** Whether there is such a text. */
  is({ start, end }: Span, text: Uint8Array): boolean {
    if (end - start !== text.length) return false;
    for (let index = 0; index < text.length; index++)
      if (this.#body[start + index] !== text[index]) return false;
    return true;
  }

  /** The value of a label, without its escapes. */
  text({ start, end }: Span): string {
    const text = this.#body.toString('utf8', start, end);
    return text.includes('\\') ? withoutEscapes(text) : text;
  }

  /**
   * Reads the rest of the line.
   *
   * @returns the value, and milliseconds since the epoch where the line tells them; `undefined` where it is malformed
   */
  rest(): { readonly value: number; readonly timestampMs: number | undefined } | undefined {
    if (this.#skipSpace() === 0) return undefined;
    const value = this.#value();
    this.#skipSpace();
    const isStamped = this.#position < this.#end;
    const timestampMs = isStamped ? this.#integer() : undefined;
    this.#skipSpace();
    const isRead = value !== undefined && this.#position === this.#end;
    return isRead && (timestampMs !== undefined || !isStamped) ? { value, timestampMs } : undefined;
  }

  #skipText(text: string): boolean {
    const [body, start] = [this.#body, this.#position];
    for (let index = 0; index < text.length; index++)
      if (body[start + index] !== text.charCodeAt(index)) return false;
    this.#position = start + text.length;
    return true;
  }

  #label(onLabel: (name: Span, value: Span) => void): boolean {
    const name = this.#readName();
    this.#skipSpace();
    if (name === undefined || this.#code !== EQUALS) return false;
    this.#position++;
    this.#skipSpace();
    if (this.#code !== QUOTE) return false;
    const [body, start] = [this.#body, this.#position + 1];
    let end = start;
    while (end < this.#end && body[end] !== QUOTE) end += body[end] === BACKSLASH ? 2 : 1;
    if (end >= this.#end || this.#isTooLong({ start, end })) return false;
    this.#position = end + 1;
    onLabel(name, { start, end });
    this.#skipSpace();
    return true;
  }

  #isTooLong({ start, end }: Span): boolean {
    const isLong = end - start > MAX_LABEL_LENGTH; // in bytes, of which a character has several
    return isLong && this.#body.toString('utf8', start, end).length > MAX_LABEL_LENGTH;
  }

  #value(): number | undefined {
    if (this.#decimal.read(this.#body, this.#position)) {
      const { end, value } = this.#decimal;
      if (end === this.#end || isSpace(this.#body[end])) {
        this.#position = end;
        return value;
      }
    }
    const start = this.#position;
    while (this.#position < this.#end && !isSpace(this.#code)) this.#position++;
    return sampleValue(this.#body.toString('latin1', start, this.#position));
  }

  /** A whole number; one of many digits is not exact, and out of all bounds. */
  #integer(): number | undefined {
    const isNegative = this.#code === MINUS;
    if (isNegative) this.#position++;
    const [body, start] = [this.#body, this.#position];
    let [position, value] = [start, 0];
    for (let code = body[position]; isDigit(code) && position < this.#end; code = body[++position])
      value = value * 10 + (code - DIGIT_0);
    this.#position = position;
    if (position === start) return undefined;
    return isNegative ? -value : value;
  }

  #readName(): Span | undefined {
    const [body, start] = [this.#body, this.#position];
    if (isDigit(body[start])) return undefined;
    let end = start;
    while (isNameCode(body[end])) end++;
    this.#position = end;
    return end === start ? undefined : { start, end };
  }

  /** @returns how much of it there was */
  #skipSpace(): number {
    const start = this.#position;
    while (isSpace(this.#code)) this.#position++;
    return this.#position - start;
  }

  /** What comes next; a line feed, or nothing, behind the line. */
  get #code(): number | undefined {
    return this.#body[this.#position];
  }
}

const [TAB, CARRIAGE_RETURN, SPACE, DIGIT_9, COLON, UNDERSCORE] = [0x09, 0x0d, 0x20, 0x39, 0x3a, 0x5f];
const [LOWER_A, LOWER_Z, LOWER_CASE] = [0x61, 0x7a, 0x20];
const DIGIT_0 = 0x30;

/** Whether a byte may stand in the name of a series or a label; a digit may not be the first. */
function isNameCode(code: number | undefined): boolean {
  if (code === undefined) return false;
  const lower = code | LOWER_CASE;
  return (lower >= LOWER_A && lower <= LOWER_Z) || code === UNDERSCORE || code === COLON || isDigit(code);
}

function isDigit(code: number | undefined): code is number {
  return code !== undefined && code >= DIGIT_0 && code <= DIGIT_9;
}

/** Whether a byte may stand between the parts of a line. */
function isSpace(code: number | undefined): boolean {
  return code === SPACE || code === TAB || code === CARRIAGE_RETURN;
}

/** The value of a sample where {@link ShortDecimal} does not read it; `undefined` where it is none. */
export function sampleValue(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : SPECIAL_VALUES.get(text);
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const SPECIAL_VALUES: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Inf', Number.POSITIVE_INFINITY],
  ['+Inf', Number.POSITIVE_INFINITY],
  ['-Inf', Number.NEGATIVE_INFINITY],
]);

/**
 * The value of a label without its escapes. Written out, since replacing by a function takes five times as long, and a response may
 * be nothing but escapes.
 */
export function withoutEscapes(value: string): string {
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

const UNESCAPED: ReadonlyMap<number, string> = new Map([
  [0x6e, '\n'],
  [0x22, '"'],
  [0x5c, '\\'],
]);

const MINUS = 0x2d;
const [PLUS, POINT, LOWER_E] = [0x2b, 0x2e, 0x65];

/** Those that a double holds exactly. */
const POWERS_OF_TEN: readonly number[] = Array.from({ length: 23 }, (_, power) => 10 ** power);

/**
 * Reads numbers of few digits without making a text of them, as nearly all in an exposition are: a whole number up to 2^53
 * times or by a power of ten up to 10^22. A double holds both exactly, so the one operation rounds as reading the text would.
 */
export class ShortDecimal {
  /** What was read last, and where it ended. */
  value = 0;
  end = 0;

  /**
   * @param start where the number begins
   * @returns `false` where there is another number, or none
   */
  read(bytes: Uint8Array, start: number): boolean {
    let [position, digits, exponent] = [start, 0, 0];
    let code = bytes[position] as number;
    if (!isDigit(code)) return false;
    for (; isDigit(code); code = bytes[++position] as number) digits = digits * 10 + (code - DIGIT_0);
    if (code === POINT) {
      const fraction = ++position;
      for (code = bytes[position] as number; isDigit(code); code = bytes[++position] as number)
        digits = digits * 10 + (code - DIGIT_0);
      exponent = fraction - position;
    }
    if ((code | 0x20) === LOWER_E) {
      const sign = bytes[++position];
      if (sign === PLUS || sign === MINUS) position++;
      const first = position;
      let power = 0;
      for (code = bytes[position] as number; isDigit(code); code = bytes[++position] as number)
        power = power * 10 + (code - DIGIT_0);
      if (position === first) return false;
      exponent += sign === MINUS ? -power : power;
    }
    const power = POWERS_OF_TEN[Math.abs(exponent)];
    if (power === undefined || digits > Number.MAX_SAFE_INTEGER) return false;
    this.value = exponent < 0 ? digits / power : digits * power;
    this.end = position;
    return true;
  }
}
