const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIRST_CAPACITY_BYTES = 512;
/** Fits in a length of one byte, and is fast. */
const MAX_SHORT_LENGTH = 48;
/** For values up to 2^53. */
const MAX_VARINT_BYTES = 8;

/**
 * Appends bytes and strings. One long string concatenated from as many parts takes four times as long to encode, since
 * strings are flattened only when they are read.
 */
export class GrowingBuffer {
  /** The buffer, with spare capacity. */
  protected bytes: Buffer;
  protected written = 0;

  /** @param bytes initial buffer; replaced by a larger one when it is full */
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Bytes written so far. */
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

  /** Returns a copy of everything written so far and begins again in the same buffer. */
  finish(): Buffer {
    const copy = Buffer.from(this.bytes.subarray(0, this.written));
    this.written = 0;
    return copy;
  }

  /** Returns the buffer to {@link spareBuffer}; do not write afterwards. */
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

/** UTF-8 bytes of one UTF-16 unit, at most. */
const BYTES_PER_UNIT = 3;

let spare: Buffer | undefined;

/** A longer buffer is rare and is not retained for reuse. */
const MAX_RETAINED_BYTES = 8 * 1024 * 1024;

/**
 * Writes the wire format of Protocol Buffers into one growing buffer.
 *
 * Tens of thousands of objects are encoded after every scrape, so this writer does not collect a chunk for each string:
 * a nested message is written in place and its length is filled in afterwards.
 */
export class ProtobufWriter extends GrowingBuffer {
  constructor(bytes: Buffer = Buffer.allocUnsafe(FIRST_CAPACITY_BYTES)) {
    super(bytes);
  }

  /** @param value an integer from 0 to 2^53 */
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

  /** Writes nearly every string, faster than a call of the encoder. */
  #shortAscii(value: string): boolean {
    const { length } = value;
    this.reserve(1 + length);
    let at = this.written;
    this.bytes[at++] = length;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false; // what was written so far is overwritten
      this.bytes[at++] = code;
    }
    this.written = at;
    return true;
  }

  /** Writes the header of a field of so many bytes, which the caller appends. */
  bytesHead(field: number, length: number): void {
    this.#varint(field * 8 + LENGTH_DELIMITED);
    this.#varint(length);
  }

  /** @param write writes the nested message's fields to this same writer */
  message(field: number, write: () => void): void {
    this.#varint(field * 8 + LENGTH_DELIMITED);
    this.#withLength(write);
  }

  /** Writes all of something, or nothing if that throws. */
  attempt(write: () => void): void {
    const length = this.written;
    try {
      write();
    } catch {
      this.written = length;
    }
  }

  /** Reserves one byte for the length, which nearly always suffices, and otherwise moves the content. */
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
    this.#putVarint(contentLength); // has its bytes already; reserving here could lose the content after it
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
 * The released buffer, or a new one. Dozens of blocks are encoded after every scrape: a new buffer for each would
 * double the garbage, of a kind that the collector is slow to find.
 */
export function spareBuffer(): Buffer {
  const bytes = spare ?? Buffer.allocUnsafe(FIRST_SPARE_BYTES);
  spare = undefined; // another writer may be active meanwhile
  return bytes;
}
