import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';

/** Several times the lines of the largest node: its containers have up to eight each. */
const MAX_LINES = 1_000_000;

const LINE_FEED = 0x0a;
const [QUOTE, HASH, COMMA, EQUALS, BACKSLASH, OPENING, CLOSING] = [0x22, 0x23, 0x2c, 0x3d, 0x5c, 0x7b, 0x7d];

/** Names have at most 253 characters, or twice as many with escapes. */
const MAX_LABEL_LENGTH = 1024;

/** Length of an excerpt in characters, and its maximum number of bytes. */
const [EXCERPT_LENGTH, EXCERPT_BYTES] = [80, 240];

/** A range of the body; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads Prometheus' text format, version 0.0.4, line by line in one pass: any order of labels, escapes, exponents,
 * NaN and ±Inf, with or without timestamps.
 *
 * Each method reads the next part of the line, if present. Bytes are compared in place: converting them to strings
 * takes five times as long and creates garbage. Returned strings do not reference the body.
 */
export class SampleReader {
  readonly #body: Buffer;
  readonly #decimal = new ShortDecimal();
  #lines = 0;
  /** Start and exclusive end of the line. */
  #start = 0;
  #end = -1;
  #position = 0;
  /** The last name read. */
  #name = '';

  /** @param body UTF-8 text in memory that is not resizable */
  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Number of lines read, including the current one. */
  get lines(): number {
    return this.#lines;
  }

  /** The start of the line, for messages. */
  get excerpt(): string {
    const end = Math.min(this.#end, this.#start + EXCERPT_BYTES);
    return this.#body.toString('utf8', this.#start, end).slice(0, EXCERPT_LENGTH);
  }

  /**
   * Moves to the next line that is neither empty nor a comment.
   *
   * @returns `false` after the last line
   * @throws {ExcessiveResponse} if there are more lines than the largest node has
   */
  nextLine(): boolean {
    while (this.#end < this.#body.length) {
      this.#start = this.#end + 1;
      const end = this.#body.indexOf(LINE_FEED, this.#start);
      this.#end = end === -1 ? this.#body.length : end;
      if (++this.#lines > MAX_LINES)
        throw new ExcessiveResponse('parts', `the response has more than ${MAX_LINES} lines`);
      this.#position = this.#start;
      if (this.#code === HASH) continue;
      this.#skipSpace();
      const isBlank = this.#position === this.#end;
      this.#position = this.#start;
      if (!isBlank) return true;
    }
    return false;
  }

  /**
   * @returns the name of the sample; the same string as for the previous sample if equal, which is the common case
   */
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

  /** Skips the labels of a container in the kubelet's form, if they are next. The names must need no escapes. */
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
   * Reads labels, including braces.
   *
   * @param onLabel receives the ranges of a name and its value; {@link text} converts the value
   * @returns the range of all labels, empty if there are none; `undefined` if they are invalid
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

  /** Whether a range contains exactly the given bytes. */
  is({ start, end }: Span, text: Uint8Array): boolean {
    if (end - start !== text.length) return false;
    for (let index = 0; index < text.length; index++)
      if (this.#body[start + index] !== text[index]) return false;
    return true;
  }

  /** Converts the value of a label, resolving escapes. */
  text({ start, end }: Span): string {
    const text = this.#body.toString('utf8', start, end);
    return text.includes('\\') ? withoutEscapes(text) : text;
  }

  /**
   * Reads the rest of the line.
   *
   * @returns the value, and the timestamp in milliseconds since the epoch, if present; `undefined` if invalid
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
    const isLong = end - start > MAX_LABEL_LENGTH; // in bytes, an upper bound of the characters
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

  /** Reads an integer. One with too many digits is inexact, but out of range anyway. */
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

  /** @returns the number of bytes skipped */
  #skipSpace(): number {
    const start = this.#position;
    while (isSpace(this.#code)) this.#position++;
    return this.#position - start;
  }

  /** The next byte; a line feed or `undefined` at the end of the line. */
  get #code(): number | undefined {
    return this.#body[this.#position];
  }
}

const [TAB, CARRIAGE_RETURN, SPACE, DIGIT_9, COLON, UNDERSCORE] = [0x09, 0x0d, 0x20, 0x39, 0x3a, 0x5f];
const [LOWER_A, LOWER_Z, LOWER_CASE] = [0x61, 0x7a, 0x20];
const DIGIT_0 = 0x30;

/** Whether a byte is valid in a name; digits are invalid at its start. */
function isNameCode(code: number | undefined): boolean {
  if (code === undefined) return false;
  const lower = code | LOWER_CASE;
  return (lower >= LOWER_A && lower <= LOWER_Z) || code === UNDERSCORE || code === COLON || isDigit(code);
}

function isDigit(code: number | undefined): code is number {
  return code !== undefined && code >= DIGIT_0 && code <= DIGIT_9;
}

/** Whether a byte separates the parts of a line. */
function isSpace(code: number | undefined): boolean {
  return code === SPACE || code === TAB || code === CARRIAGE_RETURN;
}

/** Parses values that {@link ShortDecimal} does not; `undefined` if invalid. */
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
 * Resolves the escapes of a label value. A loop is five times as fast as a replacing function, even for only escapes.
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

/** Exact in a double. */
const POWERS_OF_TEN: readonly number[] = Array.from({ length: 23 }, (_, power) => 10 ** power);

/**
 * Parses short numbers without creating a string, which covers nearly all samples: an integer up to 2^53 multiplied
 * or divided by a power of ten up to 10^22. Both are exact in a double, so the result is rounded as by a full parser.
 */
export class ShortDecimal {
  /** The last value read, and the position after it. */
  value = 0;
  end = 0;

  /**
   * @param start position of the number
   * @returns `false` for other numbers or texts
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
