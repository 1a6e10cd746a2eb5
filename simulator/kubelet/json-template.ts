import { formatTimestamp } from '../objects/kubernetes-object.ts';

/** What fills a hole: JSON, a finite number, or what appends its JSON itself. */
type HoleFiller = JsonPiece | string | number | (() => void);

/**
 * JSON, indented as a kubelet does, some values of which are told only when it is filled. Most of a long response is the
 * same every time: it is written once, and filling copies its pieces.
 */
export class JsonTemplate<Hole extends string> {
  /** What comes before each hole; the last one comes after all. */
  readonly #pieces: readonly JsonPiece[];
  readonly #holes: readonly Hole[];

  /**
   * @param shape JSON in which the text `<hole>` stands for a value
   * @param depth in how many objects and lists it will be nested
   */
  constructor(shape: unknown, depth: number) {
    const text = JSON.stringify(shape, null, 1).replaceAll('\n', newLine(depth));
    const parts = text.split(/"<(\w+)>"/);
    const pieces = parts.filter((_part, index) => index % 2 === 0);
    this.#pieces = pieces.map((piece) => new JsonPiece(piece));
    this.#holes = parts.filter((_part, index) => index % 2 === 1) as Hole[];
  }

  /** @param fillers those without a hole go nowhere */
  append(bytes: JsonBytes, fillers: Readonly<Record<Hole, HoleFiller>>): void {
    bytes.appendPiece(this.#pieces[0] as JsonPiece);
    for (let index = 0; index < this.#holes.length; index++) {
      const filler: HoleFiller = fillers[this.#holes[index] as Hole];
      if (typeof filler === 'number') bytes.appendNumber(filler);
      else if (typeof filler === 'string') bytes.appendText(filler);
      else if (typeof filler === 'function') filler();
      else bytes.appendPiece(filler);
      bytes.appendPiece(this.#pieces[index + 1] as JsonPiece);
    }
  }
}

/**
 * Appends a list of what appends itself.
 *
 * @param depth in how many objects and lists the items are nested
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

/** More distinct seconds than this are hardly told within a few minutes, by however many nodes. */
const KEPT = 20_000;

/** Stamps of whole seconds in JSON, put together once for all that tell of the same second. */
export class Stamps {
  readonly #pieces = new Map<number, JsonPiece>();

  at(epochMs: number): JsonPiece {
    const second = Math.floor(Math.trunc(epochMs) / 1000);
    return this.#pieces.get(second) ?? this.#add(second);
  }

  #add(second: number): JsonPiece {
    const piece = new JsonPiece(`"${formatTimestamp(second * 1000)}"`);
    if (this.#pieces.size >= KEPT) this.#pieces.clear();
    this.#pieces.set(second, piece);
    return piece;
  }
}
