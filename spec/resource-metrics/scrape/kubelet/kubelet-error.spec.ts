import { once } from 'node:events';
import net from 'node:net';
import { expect } from 'chai';
import { KubeletConnection } from '#lib/resource-metrics/scrape/kubelet/kubelet-connection.ts';
import { explainHttpError } from '#lib/resource-metrics/scrape/kubelet/kubelet-error.ts';
import { ResponseMemory } from '#lib/resource-metrics/scrape/kubelet/response-memory.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { httpResponse, RawServer } from '#spec/support/raw-server.ts';

const CLOSED = 'the kubelet closed the connection before its response was complete';

/** Returns the error for a kubelet that sends these bytes, and optionally closes the connection. */
async function failureOf(response: string, { ends = false } = {}): Promise<string> {
  await using server = await RawServer.start((socket) =>
    socket.on('data', () => (ends ? socket.end(response) : socket.write(response))),
  );
  const socket = net.connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  const clock = new ManualClock();
  const memory = new ResponseMemory(clock);
  const connection = new KubeletConnection(socket, { clock, host: 'a', maxResponseBytes: 2 ** 20, memory });
  const signal = AbortSignal.timeout(20_000);
  const request = { path: '/', authorization: undefined, signal, read: (body: Buffer) => `read "${body}"` };
  const message = await connection.get(request).catch((error: Error) => error.message);
  connection.close();
  return message;
}

describe('explainHttpError', () => {
  for (const [what, response, message] of [
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'it does not speak HTTP'],
    [
      'a status that is no number',
      'HTTP/1.1 abc\r\n\r\n',
      'the response is not valid HTTP: Invalid status code',
    ],
    [
      'a header with a space in its name',
      'HTTP/1.1 200 OK\r\na b: c\r\n\r\n',
      'the response is not valid HTTP: Invalid header token',
    ],
    [
      'a length that is no number',
      'HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n',
      'the length of the response differs from its Content-Length',
    ],
    [
      'a chunk without size',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      'the response is not valid HTTP: Invalid character in chunk size',
    ],
    [
      'a chunk longer than announced',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n',
      'the response is not valid HTTP: Expected LF after chunk data',
    ],
    [
      'too long headers',
      `HTTP/1.1 200 OK\r\na: ${'x'.repeat(20_000)}\r\n\r\n`,
      'the headers of the response are too large',
    ],
    [
      'another protocol offered',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n',
      'invalid response: bad upgrade',
    ],
  ] as const) {
    it(`describes ${what}`, async () => {
      expect(await failureOf(response)).to.equal(message);
    });
  }

  for (const [what, response] of [
    ['before the response', ''],
    ['in the head', 'HTTP/1.1 200 OK\r\nContent'],
    ['in a body of known length', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'],
    [
      'in the last chunk of all',
      'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
    ],
  ]) {
    it(`reports that the kubelet closed the connection ${what}`, async () => {
      expect(await failureOf(response ?? '', { ends: true })).to.equal(CLOSED);
    });
  }

  it('accepts valid responses', async () => {
    expect(await failureOf('HTTP/1.1 200 OK\r\n\r\nall', { ends: true })).to.equal('read "all"');
    expect(await failureOf(`HTTP/1.1 103 Early Hints\r\na: b\r\n\r\n${httpResponse('all')}`)).to.equal(
      'read "all"',
    );
    expect(await failureOf('HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nall')).to.equal('read "all"');
  });

  it('accepts five provisional responses, but not six', async () => {
    const messageAfter = (count: number) =>
      failureOf(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(count)}${httpResponse('all')}`);
    expect(await messageAfter(5)).to.equal('read "all"');
    expect(await messageAfter(6)).to.equal('too many provisional responses');
  });

  it('returns network errors unchanged', () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    expect(explainHttpError(reset)).to.equal(reset);
  });
});
