import {
  afterNested,
  afterScalar,
  afterSpace,
  afterString,
  closeJson,
  END,
  isEndOfScalar,
  type JsonText,
  malformed,
} from './json-bytes.ts';
import type { KnownWords } from './known-words.ts';
import { SharedStrings } from './shared-strings.ts';
import { readUtcTime } from './utc-time.ts';

const [SPACE, QUOTE, COMMA, MINUS, DIGIT_0, DIGIT_9, COLON, BACKSLASH] = [
  0x20, 0x22, 0x2c, 0x2d, 0x30, 0x39, 0x3a, 0x5c,
];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Whole numbers of so many digits are exact as doubles, whatever the digits. */
const EXACT_DIGITS = 15;

const SHARED_STRINGS = new SharedStrings();

/**
 * Walks through a JSON text (RFC 8259) from front to back and makes values only of what it is asked for, which of a
 * kubelet's answer is a fifth.
 *
 * Whoever reads a value of one type where there is one of another passes over it. What is passed over is checked to be
 * closed, and not for every rule of JSON.
 */
export class JsonScanner {
  readonly #text: JsonText;
  #position = 0;
  /** Whether an object or list has just been entered, so that no comma comes before its first member. */
  #isEntered = false;

  /** @param body UTF-8 text */
  constructor(body: Buffer) {
    this.#text = closeJson(body);
  }

  /** Enters the object that comes next; `false` where there is none. */
  enterObject(): boolean {
    return this.#enter(OPENING_BRACE);
  }

  /** Enters the list that comes next; `false` where there is none. */
  enterArray(): boolean {
    return this.#enter(OPENING_BRACKET);
  }

  /**
   * Goes on to the value of an object's next member, and leaves the object after the last.
   *
   * @returns the member's name, the empty string for one that is not among the known; `undefined` after the last
   */
  nextKey(known: KnownWords): string | undefined {
    if (!this.#goOn(CLOSING_BRACE)) return undefined;
    const text = this.#text;
    const opening = afterSpace(text, this.#position);
    if (text[opening] !== QUOTE) throw malformed(text, opening);
    let closing = opening + 1;
    let code = text[closing] as number;
    while (code !== QUOTE && code !== BACKSLASH && code >= SPACE) code = text[++closing] as number;
    const isPlain = code === QUOTE;
    if (!isPlain) closing = afterString(text, opening) - 1;
    const colon = afterSpace(text, closing + 1);
    if (text[colon] !== COLON) throw malformed(text, colon);
    this.#position = colon + 1;
    return isPlain
      ? known.find(text, opening + 1, closing)
      : known.findText(parse(text, opening, closing + 1) as string);
  }

  /** Goes on to a list's next element; `false` after the last, where it leaves the list. */
  nextElement(): boolean {
    return this.#goOn(CLOSING_BRACKET);
  }

  /** The text that comes next; `undefined` where it is empty or there is none. */
  text(): string | undefined {
    const text = this.#text;
    const opening = afterSpace(text, this.#position);
    if (text[opening] !== QUOTE) return this.#skipped();
    const end = afterString(text, opening);
    this.#position = end;
    if (end - opening === 2) return undefined;
    const held = SHARED_STRINGS.find(text, opening + 1, end - 1);
    if (held !== undefined) return held;
    if (hasEscapes(text, opening, end)) return parse(text, opening, end) as string;
    return SHARED_STRINGS.keep(text, opening + 1, end - 1);
  }

  /** The time (RFC 3339) that comes next, in milliseconds since the Unix epoch; NaN where there is none. */
  timeMs(): number {
    const text = this.#text;
    const opening = afterSpace(text, this.#position);
    if (text[opening] === QUOTE) {
      const end = afterString(text, opening);
      const timeMs = readUtcTime(text, opening + 1, end - 1);
      if (!Number.isNaN(timeMs)) {
        this.#position = end;
        return timeMs;
      }
    }
    return Date.parse(this.text() ?? '');
  }

  /** The number that comes next; `undefined` where there is none. */
  number(): number | undefined {
    const text = this.#text;
    const start = afterSpace(text, this.#position);
    const first = text[start] as number;
    if (!isDigit(first) && first !== MINUS) return this.#skipped();
    let position = start;
    let value = 0;
    for (let code = first; isDigit(code); code = text[++position] as number) {
      value = value * 10 + code - DIGIT_0;
    }
    const digits = position - start;
    const isSimple = digits > 0 && digits <= EXACT_DIGITS && (first !== DIGIT_0 || digits === 1);
    const isAll = isEndOfScalar(text[position] as number);
    this.#position = isAll ? position : afterScalar(text, position);
    return isSimple && isAll ? value : (parse(text, start, this.#position) as number);
  }

  /** Passes over the value that comes next. */
  skip(): void {
    const text = this.#text;
    const start = afterSpace(text, this.#position);
    const first = text[start] as number;
    if (first === QUOTE) this.#position = afterString(text, start);
    else if (first === OPENING_BRACE || first === OPENING_BRACKET) this.#position = afterNested(text, start);
    else {
      this.#position = afterScalar(text, start);
      if (!isDigit(first)) parse(text, start, this.#position);
    }
  }

  /** @throws unless the text ends here */
  end(): void {
    const end = afterSpace(this.#text, this.#position);
    if (end !== this.#text.length - 1) throw malformed(this.#text, end);
  }

  #enter(opening: number): boolean {
    const start = afterSpace(this.#text, this.#position);
    if (this.#text[start] !== opening) {
      this.skip();
      return false;
    }
    this.#position = start + 1;
    this.#isEntered = true;
    return true;
  }

  /** Passes over what stands before another member, or what closes after the last. */
  #goOn(closing: number): boolean {
    const position = afterSpace(this.#text, this.#position);
    const code = this.#text[position];
    const isFirst = this.#isEntered;
    this.#isEntered = false;
    if (code === closing || code === COMMA) this.#position = position + 1;
    if (code === closing) return false;
    if (isFirst === (code === COMMA)) throw malformed(this.#text, position);
    return true;
  }

  #skipped(): undefined {
    this.skip();
  }
}

function hasEscapes(text: JsonText, start: number, end: number): boolean {
  for (let position = start; position < end; position++) if (text[position] === BACKSLASH) return true;
  return false;
}

/** What `JSON.parse` makes of a part of the text. */
function parse(text: JsonText, start: number, end: number): unknown {
  try {
    return JSON.parse(text.toString('utf8', start, end));
  } catch {
    throw malformed(text, text[start] === END ? text.length : start);
  }
}

function isDigit(code: number): boolean {
  return code >= DIGIT_0 && code <= DIGIT_9;
}
