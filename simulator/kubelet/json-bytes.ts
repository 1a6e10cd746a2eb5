const DIGITS_AT_ONCE = 8;
const LIMIT = 10 ** DIGITS_AT_ONCE;
const WORD_BYTES = 4;

/** JSON that is told again and again, as it is copied the quickest: in words, of which the last may be filled up. */
export class JsonPiece {
  readonly words: Int32Array;
  readonly length: number;

  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.length = bytes.length;
    const filledUp = Buffer.concat([bytes, Buffer.alloc(WORD_BYTES)]);
    this.words = Int32Array.from({ length: Math.ceil(bytes.length / WORD_BYTES) }, (_, index) =>
      filledUp.readInt32LE(index * WORD_BYTES),
    );
  }
}

/**
 * Puts JSON together as UTF-8, from its start to its end, in memory that is used again and again: that costs less than
 * joining strings and encoding them.
 */
export class JsonBytes {
  #bytes = Buffer.alloc(128 * 1024);
  #view = viewOf(this.#bytes);
  #length = 0;

  appendPiece({ words, length }: JsonPiece): void {
    let at = this.#reserve(length);
    const view = this.#view;
    for (let index = 0; index < words.length; index++) {
      view.setInt32(at, words[index] as number, true);
      at += WORD_BYTES;
    }
  }

  /** @param text JSON */
  appendText(text: string): void {
    const start = this.#reserve(text.length);
    const bytes = this.#bytes;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) {
        this.#encode(text, start);
        return;
      }
      bytes[start + index] = code;
    }
  }

  /** @param value finite */
  appendNumber(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) this.appendText(String(value));
    else if (value < LIMIT) this.#appendDigits(value, digitsOf(value));
    else {
      const high = Math.floor(value / LIMIT);
      this.appendNumber(high);
      this.#appendDigits(value - high * LIMIT, DIGITS_AT_ONCE);
    }
  }

  /** Gives all of it away, and starts again. */
  take(): Buffer {
    const taken = Buffer.allocUnsafe(this.#length);
    taken.set(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return taken;
  }

  #appendDigits(value: number, count: number): void {
    const start = this.#reserve(count);
    const bytes = this.#bytes;
    let left = value;
    for (let at = start + count - 1; at >= start; at--) {
      const tenth = (left / 10) | 0;
      bytes[at] = 0x30 + left - tenth * 10;
      left = tenth;
    }
  }

  #encode(text: string, start: number): void {
    this.#length = start;
    this.#reserve(Buffer.byteLength(text));
    this.#bytes.write(text, start);
  }

  /** @returns where to put that many bytes; there is space for a word that is filled up behind them */
  #reserve(length: number): number {
    const start = this.#length;
    this.#length += length;
    if (this.#length + WORD_BYTES > this.#bytes.length) {
      const larger = Buffer.alloc(this.#length * 2);
      larger.set(this.#bytes.subarray(0, start));
      this.#bytes = larger;
      this.#view = viewOf(larger);
    }
    return start;
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

function digitsOf(value: number): number {
  let count = 1;
  for (let limit = 10; value >= limit; limit *= 10) count++;
  return count;
}
