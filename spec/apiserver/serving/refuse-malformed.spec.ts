import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { refusalReasonOf } from '#lib/apiserver/serving/refuse-malformed.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

describe('refusalReasonOf', () => {
  for (const [code, reason] of [
    ['HPE_INVALID_METHOD', 'malformed'],
    ['HPE_HEADER_OVERFLOW', 'headers_too_large'],
    ['ERR_HTTP_REQUEST_TIMEOUT', 'too_slow'],
    ['ECONNRESET', undefined],
    ['EPIPE', undefined],
  ] as const) {
    it(`takes ${code} for ${reason ?? 'a client that has gone'}`, () => {
      expect(refusalReasonOf(code)).to.equal(reason);
    });
  }
});

describe('refuseMalformed', () => {
  let server: ApiServer;
  before(async () => {
    server = await startTestApiServer();
  });
  after(() => server[Symbol.asyncDispose]());

  /** Sends bytes, and reads until the server closes the connection. */
  const send = async (bytes: string): Promise<{ status: string; json: Record<string, unknown> }> => {
    const socket = tls.connect({ host: '127.0.0.1', port: server.address.port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.write(bytes);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    expect(head)
      .to.match(/^audit-id: [0-9a-f-]{36}\r$/im)
      .and.match(/^connection: close$/im);
    return { status: head.split('\r\n')[0] ?? '', json: JSON.parse(body) };
  };

  it('responds to a method that nobody knows as any other wrong method', async () => {
    const { status, json } = await send('FOO /apis HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(status).to.match(/^HTTP\/1\.1 405 /);
    expect(json).to.include({ kind: 'Status', reason: 'MethodNotAllowed', code: 405 });
  });

  it('responds to what is no request with 400, and closes the connection', async () => {
    const { status, json } = await send('GET / HTTP/1.1\r\nthis is no header\r\n\r\n');
    expect(status).to.match(/^HTTP\/1\.1 400 /);
    expect(json).to.include({ reason: 'BadRequest', message: 'the request is malformed' });
  });

  it('responds to headers that go on for too long with 431', async () => {
    const { status, json } = await send(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(1024 * 1024 + 1)}`);
    expect(status).to.match(/^HTTP\/1\.1 431 /);
    expect(json).to.include({ code: 431 });
  });
});
