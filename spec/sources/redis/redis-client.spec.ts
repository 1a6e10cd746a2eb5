import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { RedisConnection, RespDecoder, RespError, type RespValue } from '#lib/sources/redis/redis-client.ts';

const MAX_BYTES = 128 * 1024;
const MAX_VALUES = 8192;

describe('RedisConnection', () => {
  const { signal } = new AbortController();
  let server: Server;
  let received: string;

  beforeEach(async () => {
    received = '';
    server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        received += bytes.toString('latin1');
        socket.write('+OK\r\n');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    server.close();
    await once(server, 'close');
  });

  const connect = (access: { readonly username?: string; readonly password?: string } = {}) =>
    RedisConnection.connect(
      {
        ...{ host: '127.0.0.1', port: (server.address() as AddressInfo).port, tls: undefined },
        allowedHosts: new AllowedHosts(['127.0.0.1']),
        ...{ username: undefined, password: undefined, database: 0, ...access },
      },
      signal,
    );

  for (const text of ['a\r\nflush_all\r\n', 'a\nflush_all', 'a\rflush_all'])
    it(`sends no ${JSON.stringify(text)}, as a server of another system may obey it`, async () => {
      const error = await connect({ username: text, password: 'secret' }).catch(String);
      expect(error).to.equal('Error: an argument of a Redis command must not contain a line break');
      expect(await connect({ password: text }).catch(String)).to.equal(error);
      const connection = await connect();
      expect(await connection.send('LLEN', text).catch(String)).to.equal(error);
      expect(await connection.send('LLEN', 'jobs')).to.equal('OK');
      connection.destroy();
      expect(received).to.equal('*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nLLEN\r\n$4\r\njobs\r\n');
    });
});

describe('RespDecoder', () => {
  it('reads texts, numbers, errors, lists and what there is not', () => {
    const text = '+OK\r\n:-7\r\n$5\r\nab\r\nc\r\n$-1\r\n*-1\r\n*0\r\n*2\r\n*1\r\n:1\r\n$0\r\n\r\n';
    expect(new RespDecoder().decode(Buffer.from(text))).to.deep.equal([
      ...['OK', -7, 'ab\r\nc', null, null, []],
      [[1], ''],
    ]);
    const [error] = new RespDecoder().decode(Buffer.from('-ERR no\r\n'));
    expect(error).to.be.instanceOf(RespError).with.property('message', 'ERR no');
  });

  it('reads the same however the bytes are cut', () => {
    const value: fc.Arbitrary<RespValue> = fc.letrec<{ value: RespValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        fc.maxSafeInteger(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 5 }),
        fc.array(fc.nat(400), { maxLength: 20 }),
        (values, cuts) => {
          const bytes = Buffer.from(values.map(encode).join(''));
          const decoder = new RespDecoder();
          const read: RespValue[] = [];
          let at = 0;
          for (const cut of cuts) {
            read.push(...decoder.decode(bytes.subarray(at, at + cut)));
            at = Math.min(bytes.length, at + cut);
          }
          read.push(...decoder.decode(bytes.subarray(at)));
          expect(read).to.deep.equal(values);
        },
      ),
    );
  });

  it('rejects a text as soon as it declares more than 128 KiB', () => {
    expect(() => new RespDecoder().decode(Buffer.from(`$${MAX_BYTES + 1}\r\n`))).to.throw(
      'the response is longer than 131072 bytes',
    );
    expect(new RespDecoder().decode(Buffer.from(`$${MAX_BYTES}\r\n`))).to.deep.equal([]);
  });

  it('refuses a response that is longer, though its parts are short', () => {
    const decoder = new RespDecoder();
    decoder.decode(Buffer.from('*100000\r\n'));
    const part = Buffer.from(`$1000\r\n${'a'.repeat(1000)}\r\n`.repeat(60));
    decoder.decode(part);
    decoder.decode(part);
    expect(() => decoder.decode(part)).to.throw('the response is longer than 131072 bytes');
  });

  it('refuses an endless line, and resets its count after each response', () => {
    const decoder = new RespDecoder();
    const whole = Buffer.from(`$100000\r\n${'a'.repeat(100_000)}\r\n`);
    expect(decoder.decode(whole)).to.have.length(1);
    expect(decoder.decode(whole)).to.have.length(1);
    expect(() => decoder.decode(Buffer.from(`+${'a'.repeat(MAX_BYTES)}`))).to.throw(
      'longer than 131072 bytes',
    );
  });

  it('rejects a response of more than 8,192 values, whatever their bytes', () => {
    for (const token of [':1\r\n', '-\r\n', '*1\r\n:1\r\n']) {
      const each = token.split('\r\n').length - 1;
      const list = (count: number) => Buffer.from(`*100000\r\n${token.repeat(count)}`);
      const max = Math.floor((MAX_VALUES - 1) / each);
      expect(new RespDecoder().decode(list(max)), token).to.deep.equal([]);
      expect(() => new RespDecoder().decode(list(max + 1)), token).to.throw(
        'the response has more than 8192 values',
      );
    }
    const decoder = new RespDecoder();
    const whole = Buffer.from(`*5000\r\n${':1\r\n'.repeat(5000)}`);
    for (let count = 0; count < 3; count++) expect(decoder.decode(whole)).to.have.length(1);
  });

  it('captures no stack for an error response', () => {
    const [error] = new RespDecoder().decode(Buffer.from('-ERR no\r\n'));
    expect(error).to.not.be.instanceOf(Error);
  });

  it('refuses invalid responses', () => {
    for (const text of [
      'HTTP/1.1 200 OK\r\n',
      '\r\n',
      '\n',
      '+OK\n',
      ':1e3\r\n',
      '$-2\r\n',
      '$1\r\nab\r\n',
      '*x\r\n',
    ])
      expect(() => new RespDecoder().decode(Buffer.from(text)), text).to.throw(
        'the response is not valid RESP',
      );
    expect(() => new RespDecoder().decode(Buffer.from('*1\r\n'.repeat(9)))).to.throw('nested too deep');
    expect(new RespDecoder().decode(Buffer.from(`${'*1\r\n'.repeat(8)}:1\r\n`))).to.have.length(1);
  });
});

function encode(value: RespValue): string {
  if (value === null) return '$-1\r\n';
  if (typeof value === 'number') return `:${value}\r\n`;
  if (typeof value === 'string') return `$${Buffer.byteLength(value)}\r\n${value}\r\n`;
  const items = value as readonly RespValue[];
  return `*${items.length}\r\n${items.map(encode).join('')}`;
}
