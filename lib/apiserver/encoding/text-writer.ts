/** UTF-8 of one UTF-16 unit at most. */
const BYTES_PER_UNIT = 3;

/**
 * Writes texts behind one another, as UTF-8. One long text put together of as many takes four times as long to be encoded,
 * for strings are put together only when somebody looks at them.
 */
export class TextWriter {
  #room: Buffer;
  #length = 0;

  /** @param room to begin with; it is replaced by a larger one when it does not suffice */
  constructor(room: Buffer) {
    this.#room = room;
  }

  /** How many bytes have been written so far. */
  get length(): number {
    return this.#length;
  }

  /** Where it writes now. */
  get room(): Buffer {
    return this.#room;
  }

  text(text: string): void {
    const needed = this.#length + text.length * BYTES_PER_UNIT;
    if (needed > this.#room.length) this.#grow(needed);
    this.#length += this.#room.write(text, this.#length);
  }

  /** A copy of everything written so far. */
  finish(): Buffer {
    return Buffer.from(this.#room.subarray(0, this.#length));
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafe(Math.max(this.#room.length * 2, needed));
    grown.set(this.#room.subarray(0, this.#length));
    this.#room = grown;
  }
}
