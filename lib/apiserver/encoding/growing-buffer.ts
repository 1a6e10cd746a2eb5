/** UTF-8 of one UTF-16 unit at most. */
const BYTES_PER_UNIT = 3;
const FIRST_SPARE_BYTES = 256 * 1024;
/** What is longer is rare: it is not held until the next one comes. */
const MOST_KEPT_BYTES = 8 * 1024 * 1024;

/**
 * Bytes and texts written behind one another. One long text put together of as many takes four times as long to be encoded,
 * for strings are put together only when somebody looks at them.
 */
export class GrowingBuffer {
  /** What is written into, with capacity to spare. */
  protected bytes: Buffer;
  protected written = 0;

  /** @param bytes to begin with; they are replaced by more when they do not suffice */
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** How many bytes have been written so far. */
  get length(): number {
    return this.written;
  }

  text(text: string): void {
    this.reserve(text.length * BYTES_PER_UNIT);
    this.written += this.bytes.write(text, this.written);
  }

  raw(value: Uint8Array): void {
    this.reserve(value.length);
    this.bytes.set(value, this.written);
    this.written += value.length;
  }

  /** A copy of everything written so far; what is written next begins again in the same buffer. */
  finish(): Buffer {
    const copy = Buffer.from(this.bytes.subarray(0, this.written));
    this.written = 0;
    return copy;
  }

  /** Gives the buffer to {@link spareBuffer}; nobody may write any more. */
  release(): void {
    const isLargest = this.bytes.length > (spare?.length ?? 0);
    if (isLargest && this.bytes.length <= MOST_KEPT_BYTES) spare = this.bytes;
  }

  protected reserve(bytes: number): void {
    if (this.written + bytes <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.written + bytes));
    grown.set(this.bytes.subarray(0, this.written));
    this.bytes = grown;
  }
}

let spare: Buffer | undefined;

/**
 * The buffer that somebody has released, or a new one. Blocks are encoded by the dozen after every scrape: a buffer of
 * its own for each would be as much garbage again, of a kind that the collector is slow to find.
 */
export function spareBuffer(): Buffer {
  const bytes = spare ?? Buffer.allocUnsafe(FIRST_SPARE_BYTES);
  spare = undefined; // others may write meanwhile
  return bytes;
}
