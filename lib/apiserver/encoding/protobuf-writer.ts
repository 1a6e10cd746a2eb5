const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIRST_CAPACITY_BYTES = 512;
/** In a length of one byte, and in time. */
const MAX_SHORT_LENGTH = 48;
/** Of 2^53 and below. */
const MAX_VARINT_BYTES = 8;

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
    if (isLargest && this.bytes.length <= MAX_RETAINED_BYTES) spare = this.bytes;
  }

  protected reserve(bytes: number): void {
    if (this.written + bytes <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.written + bytes));
    grown.set(this.bytes.subarray(0, this.written));
    this.bytes = grown;
  }
}

/** UTF-8 of one UTF-16 unit at most. */
const BYTES_PER_UNIT = 3;

let spare: Buffer | undefined;

/** What is longer is rare: it is not held until the next one comes. */
const MAX_RETAINED_BYTES = 8 * 1024 * 1024;

/**
 * Writes the wire format of Protocol Buffers into one growing buffer.
 *
 * Objects are encoded by the ten thousand after every scrape, which is why this is not a writer that collects a
 * chunk for each string: a nested message is written in place and its length is filled in afterwards.
 */
export class ProtobufWriter extends GrowingBuffer {
  constructor(bytes: Buffer = Buffer.allocUnsafe(FIRST_CAPACITY_BYTES)) {
    super(bytes);
  }

  /** @param value an integer of at least 0 and at most 2^53 */
  uint(field: number, value: number): void {
    this.#varint(field * 8 + VARINT);
    this.#varint(value);
  }

  bool(field: number, value: boolean): void {
    this.uint(field, value ? 1 : 0);
  }

  string(field: number, value: string): void {
    this.#varint(field * 8 + LENGTH_DELIMITED);
    if (value.length <= MAX_SHORT_LENGTH && this.#shortAscii(value)) return;
    this.#withLength(() => this.text(value));
  }

  /** Nearly every string is one of these, and to write it byte by byte takes less than to call the encoder. */
  #shortAscii(value: string): boolean {
    const { length } = value;
    this.reserve(1 + length);
    let at = this.written;
    this.bytes[at++] = length;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false; // what was written so far is written over
      this.bytes[at++] = code;
    }
    this.written = at;
    return true;
  }

  /** What goes before so many bytes, which the caller adds itself. */
  bytesHead(field: number, length: number): void {
    this.#varint(field * 8 + LENGTH_DELIMITED);
    this.#varint(length);
  }

  /** @param write writes the nested message's fields to this same writer */
  message(field: number, write: () => void): void {
    this.#varint(field * 8 + LENGTH_DELIMITED);
    this.#withLength(write);
  }

  /** Writes all of something, or nothing where that throws. */
  attempt(write: () => void): void {
    const length = this.written;
    try {
      write();
    } catch {
      this.written = length;
    }
  }

  /** Leaves one byte for the length, which nearly always suffices, and moves the content where it does not. */
  #withLength(write: () => void): void {
    this.reserve(1);
    const lengthAt = this.written++;
    write();
    const contentLength = this.written - lengthAt - 1;
    if (contentLength >= 0x80) {
      const lengthBytes = varintBytes(contentLength);
      this.reserve(lengthBytes - 1);
      this.bytes.copyWithin(lengthAt + lengthBytes, lengthAt + 1, this.written);
    }
    this.written = lengthAt;
    this.#putVarint(contentLength); // has its bytes already; to reserve here could lose the content behind it
    this.written += contentLength;
  }

  #varint(value: number): void {
    this.reserve(MAX_VARINT_BYTES);
    this.#putVarint(value);
  }

  #putVarint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.written++] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.written++] = rest;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

const FIRST_SPARE_BYTES = 256 * 1024;

/**
 * The buffer that somebody has released, or a new one. Blocks are encoded by the dozen after every scrape: a buffer of
 * its own for each would be as much garbage again, of a kind that the collector is slow to find.
 */
export function spareBuffer(): Buffer {
  const bytes = spare ?? Buffer.allocUnsafe(FIRST_SPARE_BYTES);
  spare = undefined; // others may write meanwhile
  return bytes;
}
