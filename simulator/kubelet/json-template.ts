import { formatTimestamp } from '../objects/kubernetes-object.ts';

/** The value of a placeholder: JSON, a finite number, or a function that appends JSON. */
type PlaceholderValue = JsonChunk | string | number | (() => void);

/**
 * JSON with placeholders, indented as by a kubelet. The constant parts are encoded once and copied into each response.
 */
export class JsonTemplate<Placeholder extends string> {
  /** The JSON before each placeholder, and the JSON after the last one. */
  readonly #pieces: readonly JsonChunk[];
  readonly #placeholders: readonly Placeholder[];

  /**
   * @param shape JSON in which the text `<name>` is a placeholder
   * @param depth number of objects and lists in which it will be nested
   */
  constructor(shape: unknown, depth: number) {
    const text = JSON.stringify(shape, null, 1).replaceAll('\n', newLine(depth));
    const parts = text.split(/"<(\w+)>"/);
    const pieces = parts.filter((_part, index) => index % 2 === 0);
    this.#pieces = pieces.map((piece) => new JsonChunk(piece));
    this.#placeholders = parts.filter((_part, index) => index % 2 === 1) as Placeholder[];
  }

  /** @param fillers values without a placeholder are ignored */
  append(bytes: JsonBytes, fillers: Readonly<Record<Placeholder, PlaceholderValue>>): void {
    bytes.appendChunk(this.#pieces[0] as JsonChunk);
    for (let index = 0; index < this.#placeholders.length; index++) {
      const filler: PlaceholderValue = fillers[this.#placeholders[index] as Placeholder];
      if (typeof filler === 'number') bytes.appendNumber(filler);
      else if (typeof filler === 'string') bytes.appendText(filler);
      else if (typeof filler === 'function') filler();
      else bytes.appendChunk(filler);
      bytes.appendChunk(this.#pieces[index + 1] as JsonChunk);
    }
  }
}

/**
 * Appends a list.
 *
 * @param depth number of objects and lists in which the items are nested
 */
export function appendList<Item>(
  bytes: JsonBytes,
  items: readonly Item[],
  { depth, append }: { readonly depth: number; readonly append: (item: Item) => void },
): void {
  let before = `[${newLine(depth)}`;
  for (const item of items) {
    bytes.appendText(before);
    append(item);
    before = `,${newLine(depth)}`;
  }
  bytes.appendText(items.length === 0 ? '[]' : `${newLine(depth - 1)}]`);
}

function newLine(depth: number): string {
  return `\n${' '.repeat(depth)}`;
}

const DIGITS_AT_ONCE = 8;
const LIMIT = 10 ** DIGITS_AT_ONCE;
const WORD_BYTES = 4;

/** JSON that is appended repeatedly, as whole words, which are the fastest to copy; the last word is padded. */
export class JsonChunk {
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

/** Builds JSON as UTF-8 in a reused buffer, which is faster than joining strings and encoding them. */
export class JsonBytes {
  #bytes = Buffer.alloc(128 * 1024);
  #view = viewOf(this.#bytes);
  #length = 0;

  appendChunk({ words, length }: JsonChunk): void {
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

  /** Returns the JSON and resets the buffer. */
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

  /** @returns the offset of that many bytes, with space for the padding of a word behind them */
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

/** Requests within a few minutes contain fewer distinct seconds than this. */
const MAX_TIMESTAMPS = 20_000;

/** Timestamps of whole seconds in JSON, encoded once for all responses. */
export class TimestampCache {
  readonly #pieces = new Map<number, JsonChunk>();

  at(epochMs: number): JsonChunk {
    const second = Math.floor(Math.trunc(epochMs) / 1000);
    return this.#pieces.get(second) ?? this.#add(second);
  }

  #add(second: number): JsonChunk {
    const piece = new JsonChunk(`"${formatTimestamp(second * 1000)}"`);
    if (this.#pieces.size >= MAX_TIMESTAMPS) this.#pieces.clear();
    this.#pieces.set(second, piece);
    return piece;
  }
}
