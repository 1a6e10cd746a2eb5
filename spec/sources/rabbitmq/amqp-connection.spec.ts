import { expect } from 'chai';
import fc from 'fast-check';
import {
  AmqpDecoder,
  type AmqpMethod,
  encodeLongString,
  encodeMethod,
  encodeShortString,
  encodeTable,
  readCloseReason,
  readMessageCount,
} from '#lib/sources/rabbitmq/amqp-connection.ts';

describe('AmqpDecoder', () => {
  it('reads the same however the bytes are cut', () => {
    const method = fc.record({
      channel: fc.nat(65_535),
      id: fc.tuple(fc.nat(65_535), fc.nat(65_535)).map((pair) => pair.join('.')),
      content: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    });
    const heartbeat = Buffer.from([8, 0, 0, 0, 0, 0, 0, 0xce]);
    fc.assert(
      fc.property(
        fc.array(method, { maxLength: 8 }),
        fc.array(fc.nat(300), { maxLength: 20 }),
        (methods, cuts) => {
          const bytes = Buffer.concat(
            methods.flatMap(({ channel, id, content }) => [encodeMethod(channel, id, content), heartbeat]),
          );
          const decoder = new AmqpDecoder();
          const read: AmqpMethod[] = [];
          let at = 0;
          for (const cut of [...cuts, bytes.length]) {
            read.push(...decoder.decode(bytes.subarray(at, at + cut)));
            at = Math.min(bytes.length, at + cut);
          }
          expect(read).to.deep.equal(methods);
        },
      ),
    );
  });

  it('refuses a frame at once whose header exceeds 128 KiB', () => {
    const frame = (size: number) => {
      const bytes = Buffer.from([1, 0, 1, 0, 0, 0, 0]);
      bytes.writeUInt32BE(size, 3);
      return bytes;
    };
    expect(new AmqpDecoder().decode(frame(131_072))).to.deep.equal([]);
    expect(() => new AmqpDecoder().decode(frame(131_073))).to.throw('not valid AMQP 0-9-1');
    expect(() => new AmqpDecoder().decode(Buffer.from([1, 0, 1, 0, 0, 0, 1, 0, 0xce]))).to.throw(
      'not valid AMQP',
    );
    expect(() => new AmqpDecoder().decode(Buffer.from([2, 0, 1, 0, 0, 0, 0, 0xce]))).to.throw(
      'not valid AMQP',
    );
    const notEnded = Buffer.from([1, 0, 1, 0, 0, 0, 4, 0, 10, 0, 10, 0]);
    expect(() => new AmqpDecoder().decode(notEnded)).to.throw('not valid AMQP');
  });

  it('reports a broker with another protocol version', () => {
    const version = Buffer.from([...Buffer.from('AMQP'), 3, 1, 0, 0]);
    expect(() => new AmqpDecoder().decode(version)).to.throw('the broker does not speak AMQP 0-9-1');
  });
});

describe('encodeMethod', () => {
  it('writes the type, the channel, the length, the method and the end of a frame', () => {
    const bytes = encodeMethod(258, '50.10', Buffer.from([7]));
    expect([...bytes]).to.deep.equal([1, 1, 2, 0, 0, 0, 5, 0, 50, 0, 10, 7, 0xce]);
  });

  it('writes texts with their lengths in bytes', () => {
    expect([...encodeShortString('é')]).to.deep.equal([2, 0xc3, 0xa9]);
    expect([...encodeLongString('é')]).to.deep.equal([0, 0, 0, 2, 0xc3, 0xa9]);
    expect(encodeShortString('a'.repeat(255))).to.have.lengthOf(256);
    expect(() => encodeShortString('é'.repeat(128))).to.throw(/ is longer than 255 bytes$/);
  });

  it('writes tables of texts, booleans and tables', () => {
    const bytes = encodeTable({ a: 'x', b: true, c: { d: true } });
    const fields = ['\x01aS\0\0\0\x01x', '\x01bt\x01', '\x01cF\0\0\0\x04\x01dt\x01'].join('');
    expect(bytes.toString('latin1')).to.equal(`\0\0\0${String.fromCharCode(fields.length)}${fields}`);
  });
});

describe('readMessageCount', () => {
  const count = (...content: readonly number[]) =>
    readMessageCount({ channel: 1, id: '50.11', content: Buffer.from(content) });

  it('reads the count behind the name of the queue', () => {
    expect(count(2, 97, 98, 0, 0, 1, 2, 0, 0, 0, 9)).to.equal(258);
    expect(count(0, 0, 0, 0, 5)).to.equal(5);
  });

  it('throws where there is none', () => {
    for (const content of [[], [2, 97, 98, 0, 0, 1]])
      expect(() => count(...content)).to.throw('the broker returned no message count');
  });
});

describe('readCloseReason', () => {
  const reason = (content: string) =>
    readCloseReason({ channel: 1, id: '20.40', content: Buffer.from(content, 'latin1') });

  it('reads the code, and the text up to its end', () => {
    expect(reason('\x01\x94\x02no more')).to.equal('404 no');
    expect(reason('\x01\x94\0')).to.equal('404 ');
  });

  it('throws where there is none', () => {
    for (const content of ['', '\x01\x94']) expect(reason(content)).to.equal('the broker gave no reason');
  });
});
