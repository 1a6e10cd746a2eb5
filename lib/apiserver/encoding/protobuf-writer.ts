import { GrowingBuffer } from './growing-buffer.ts';

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIRST_CAPACITY_BYTES = 512;
/** In a length of one byte, and in time. */
const MOST_SHORT_LENGTH = 48;
/** Of 2^53 and below. */
const MAX_VARINT_BYTES = 8;

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

  double(field: number, value: number): void {
    this.#varint(field * 8 + FIXED_64);
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.raw(bytes);
  }

  string(field: number, value: string): void {
    this.#varint(field * 8 + LENGTH_DELIMITED);
    if (value.length <= MOST_SHORT_LENGTH && this.#shortAscii(value)) return;
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
