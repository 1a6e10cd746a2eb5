const FIRST_CAPACITY_BYTES = 16 * 1024;
/** UTF-8 of one UTF-16 unit at most. */
const BYTES_PER_UNIT = 3;

/**
 * Writes texts behind one another, as UTF-8. One long text put together of as many takes four times as long to be encoded,
 * for strings are put together only when somebody looks at them.
 */
export class TextWriter {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY_BYTES);
  #length = 0;

  /** How many bytes have been written so far. */
  get length(): number {
    return this.#length;
  }

  text(text: string): void {
    const capacity = this.#length + text.length * BYTES_PER_UNIT;
    if (capacity > this.#bytes.length) this.#grow(capacity);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** A copy of everything written so far; nothing is to be written afterwards. */
  finish(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }

  #grow(capacity: number): void {
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, capacity));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
