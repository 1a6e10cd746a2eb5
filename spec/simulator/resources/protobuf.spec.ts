import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { expect } from 'chai';
import { decodeMessage, type MessageSchema, UnknownFieldError } from '#simulator/resources/protobuf.ts';

const SCHEMA: MessageSchema = {
  1: { name: 'text', type: 'string' },
  2: { name: 'wanted', type: 'integer', isOptional: true },
  3: { name: 'labels', type: 'map' },
  4: { name: 'items', type: { 1: { name: 'text', type: 'string' } }, isRepeated: true },
};

const text = (number: number, value: string) =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).string(value);
const message = (number: number, value: BinaryWriter) =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(value.finish());
const joined = (...parts: readonly BinaryWriter[]) => Buffer.concat(parts.map((part) => part.finish()));
const decode = (bytes: Uint8Array, skipsUnknown = false) => decodeMessage(bytes, SCHEMA, { skipsUnknown });

describe('decodeMessage', () => {
  it('reads texts, numbers, maps and lists of messages', () => {
    const entry = (key: string, value: string) =>
      message(3, new BinaryWriter().raw(joined(text(1, key), text(2, value))));
    const wanted = new BinaryWriter().tag(2, WireType.Varint).int64(0);
    const bytes = joined(
      text(1, 'a'),
      wanted,
      entry('k', 'v'),
      entry('l', ''),
      message(4, text(1, 'x')),
      message(4, text(1, 'y')),
    );
    expect(decode(bytes)).to.deep.equal({
      text: 'a',
      wanted: 0,
      labels: { k: 'v', l: '' },
      items: [{ text: 'x' }, { text: 'y' }],
    });
  });

  it('omits an empty text', () => expect(decode(joined(text(1, '')))).to.deep.equal({}));

  it('refuses an unknown field with a value', () => {
    expect(decode(joined(text(9, '')))).to.deep.equal({});
    expect(() => decode(joined(text(9, 'x')))).to.throw(UnknownFieldError);
    expect(decode(joined(text(9, 'x')), true)).to.deep.equal({});
  });
});
