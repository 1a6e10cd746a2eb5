import { Socket } from 'node:net';
import { expect } from 'chai';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { boundReads } from '#lib/sources/http/http-pool.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RawServer } from '#spec/support/raw-server.ts';

const { signal } = new AbortController();
const KIB = 1024;
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

/** Endless responses of a server, and the client's error for each. */
const ENDLESS: readonly (readonly [what: string, first: string, again: string, error: RegExp])[] = [
  [
    'announcements of a response',
    '',
    'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n',
    /the server sent more than 20 informational responses$/,
  ],
  [
    'an extension of a chunk',
    `${CHUNKED}1;`,
    'a'.repeat(KIB),
    /^Cannot query .*: the transfer of the response exceeds twice its size limit$/,
  ],
  [
    'extensions of many chunks',
    CHUNKED,
    `1;${'a'.repeat(8 * KIB)}\r\n \r\n`,
    /^Cannot query .*: the transfer of the response exceeds twice its size limit$/,
  ],
  ['chunks of one byte', CHUNKED, '1\r\n \r\n', /the response arrives in more than 65536 pieces$/],
  ['headers', 'HTTP/1.1 200 OK\r\n', 'x: y\r\n', /Headers Overflow Error$/],
  ['trailers', `${CHUNKED}1\r\n7\r\n0\r\n`, 'x: y\r\n', /Headers Overflow Error$/],
];

describe('HttpClient, with a server that never ends its response', () => {
  for (const [what, first, again, error] of ENDLESS)
    it(`breaks off ${what}, long before the request has to end`, async () => {
      await using server = await RawServer.start((socket) =>
        socket.once('data', () => pump(socket, first, again)),
      );
      await using client = clientOf();
      const url = new URL(`http://127.0.0.1:${server.port}/`);
      expect(await errorOf(client.read({ url, maxBytes: 512 * KIB }, signal))).to.match(error);
      expect(server.sockets[0]?.bytesWritten).to.be.below(16 * KIB * KIB);
    });

  it('reads a whole response in as many small pieces as servers write lines', async () => {
    const line = `${'x'.repeat(79)}\n`;
    const lines = 10_000;
    await using server = await RawServer.start((socket) =>
      socket.once('data', () => socket.end(`${CHUNKED}${`50\r\n${line}\r\n`.repeat(lines)}0\r\n\r\n`)),
    );
    await using client = clientOf();
    const url = new URL(`http://127.0.0.1:${server.port}/`);
    expect(String(await client.read({ url }, signal)) === line.repeat(lines)).to.equal(true);
  });
});

describe('boundReads', () => {
  it('passes on at most 4 KiB at once, since each few bytes may cause an error', () => {
    const socket = buffered(10_000);
    const bound = { leftBytes: 10_000 };
    boundReads(socket, bound);
    expect([1, 2, 3, 4].map(() => socket.read()?.length)).to.deep.equal([4096, 4096, 1808, undefined]);
    expect(bound.leftBytes).to.equal(0);
  });

  it('hands out nothing of a socket that is broken, though more has come', () => {
    const socket = buffered(10_000);
    boundReads(socket, { leftBytes: 10_000 });
    socket.read();
    socket.destroy();
    expect(socket.read()).to.equal(null);
  });
});

function clientOf(): HttpClient {
  const allowedHosts = new AllowedHosts(['127.0.0.1']);
  return new HttpClient({ clock: new ManualClock(), allowedHosts, userAgent: 'spec' });
}

/** Sends until the other end has closed. */
function pump(socket: Socket, first: string, again: string): void {
  const piece = Buffer.from(again.repeat(Math.ceil((32 * KIB) / again.length)));
  const goOn = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', goOn);
  socket.write(first);
  goOn();
}

/** A socket that has received so many bytes. */
function buffered(bytes: number): Socket {
  const socket = new Socket();
  socket.push(Buffer.alloc(bytes));
  return socket;
}
