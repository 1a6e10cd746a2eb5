import { expect } from 'chai';
import fc from 'fast-check';
import { AmqpDecoder, type AmqpMethod, encodeMethod } from '#lib/sources/rabbitmq/amqp-frames.ts';

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

  it('refuses a frame at once that says it is longer than 128 KiB', () => {
    const frame = (size: number) => {
      const bytes = Buffer.from([1, 0, 1, 0, 0, 0, 0]);
      bytes.writeUInt32BE(size, 3);
      return bytes;
    };
    expect(new AmqpDecoder().decode(frame(131_072))).to.deep.equal([]);
    expect(() => new AmqpDecoder().decode(frame(131_073))).to.throw('none of AMQP 0-9-1');
    expect(() => new AmqpDecoder().decode(Buffer.from([1, 0, 1, 0, 0, 0, 1, 0, 0xce]))).to.throw(
      'none of AMQP',
    );
    expect(() => new AmqpDecoder().decode(Buffer.from([2, 0, 1, 0, 0, 0, 0, 0xce]))).to.throw('none of AMQP');
  });
});
