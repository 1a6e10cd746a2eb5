import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { expect } from 'chai';
import fc from 'fast-check';
import { GrowingBuffer, ProtobufWriter, spareBuffer } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { trickyTexts } from '#spec/support/json-values.ts';

/** A field of a message: a text, a number, or a nested message. */
type Field = readonly [number, string | number | readonly Field[]];

const fields: fc.Arbitrary<readonly Field[]> = fc.letrec<{ message: readonly Field[] }>((tie) => ({
  message: fc.array(
    fc.tuple(
      fc.integer({ min: 1, max: 100 }),
      fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        trickyTexts,
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        tie('message'),
      ),
    ),
    { maxLength: 5 },
  ),
})).message;

describe('ProtobufWriter', () => {
  it('writes what the protobuf library writes', () => {
    fc.assert(
      fc.property(fields, (message) => {
        const writer = new ProtobufWriter();
        write(writer, message);
        expect(writer.finish()).to.deep.equal(Buffer.from(written(new BinaryWriter(), message).finish()));
      }),
    );
  });

  it('writes whole numbers beyond 32 bits', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const writer = new ProtobufWriter();
        writer.uint(1, value);
        const reader = new BinaryReader(writer.finish());
        expect(reader.tag()).to.deep.equal([1, WireType.Varint]);
        expect(Number(reader.uint64())).to.equal(value);
      }),
    );
  });

  it('retains the content of a message that ends exactly at the end of the buffer', () => {
    for (let length = 480; length < 520; length++) {
      const writer = new ProtobufWriter();
      writer.string(1, 'a'.repeat(length));
      writer.string(2, 'b');
      expect(writer.finish().toString('latin1').endsWith('a\x12\x01b')).to.equal(true);
    }
  });

  it('starts again after each message', () => {
    const writer = new ProtobufWriter();
    writer.string(1, 'first');
    const first = writer.finish();
    writer.string(1, 'other');
    expect(writer.length).to.equal(7);
    writer.finish();
    expect(first.toString()).to.include('first');
  });
});

function write(writer: ProtobufWriter, message: readonly Field[]): void {
  for (const [field, value] of message) {
    if (typeof value === 'string') writer.string(field, value);
    else if (typeof value === 'number') writer.uint(field, value);
    else writer.message(field, () => write(writer, value));
  }
}

function written(writer: BinaryWriter, message: readonly Field[]): BinaryWriter {
  for (const [field, value] of message) {
    if (typeof value === 'string') writer.tag(field, WireType.LengthDelimited).string(value);
    else if (typeof value === 'number') writer.tag(field, WireType.Varint).uint32(value);
    else written(writer.tag(field, WireType.LengthDelimited).fork(), value).join();
  }
  return writer;
}

describe('GrowingBuffer', () => {
  it('contains the UTF-8 of all strings and all bytes in order, has their length, and begins again', () => {
    const texts = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.nat({ max: 20_000 }).map((length) => 'é'.repeat(length)),
        fc.uint8Array(),
      ),
    );
    const writer = new GrowingBuffer(Buffer.allocUnsafe(16));
    fc.assert(
      fc.property(texts, (all) => {
        for (const each of all) typeof each === 'string' ? writer.text(each) : writer.raw(each);
        const plain = Buffer.concat(all.map((each) => Buffer.from(each as string)));
        expect(writer.length).to.equal(plain.length);
        expect(writer.finish().equals(plain)).to.equal(true);
      }),
    );
  });
});

describe('spareBuffer', () => {
  beforeEach(() => {
    spareBuffer(); // released by other users
  });

  it('never returns one buffer to two writers, and reuses the largest released one', () => {
    const [first, second] = [spareBuffer(), spareBuffer()];
    expect(first.buffer).not.to.equal(second.buffer);
    const larger = Buffer.allocUnsafe(first.length + second.length);
    for (const buffer of [first, larger, second]) new GrowingBuffer(buffer).release();
    expect(spareBuffer()).to.equal(larger);
    expect([first, larger, second]).not.to.include(spareBuffer());
  });

  it('does not retain a buffer that is too large', () => {
    const tooLarge = Buffer.allocUnsafe(9 * 1024 * 1024);
    new GrowingBuffer(tooLarge).release();
    expect(spareBuffer()).not.to.equal(tooLarge);
  });
});
