import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { RequestPacer, refusalReasonOf } from '#lib/apiserver/serving/request-limits.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

describe('refusalReasonOf', () => {
  for (const [code, reason] of [
    ['HPE_INVALID_METHOD', 'malformed'],
    ['HPE_HEADER_OVERFLOW', 'headers_too_large'],
    ['ERR_HTTP_REQUEST_TIMEOUT', 'too_slow'],
    ['ECONNRESET', undefined],
    ['EPIPE', undefined],
  ] as const) {
    it(`counts ${code} as ${reason ?? 'a client that has left'}`, () => {
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

  it('responds to an unknown method as to any other unsupported method', async () => {
    const { status, json } = await send('FOO /apis HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(status).to.match(/^HTTP\/1\.1 405 /);
    expect(json).to.include({ kind: 'Status', reason: 'MethodNotAllowed', code: 405 });
  });

  it('responds to malformed requests with 400, and closes the connection', async () => {
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

/** Maximum number of requests that begin in one time slice. */
const MAX = 16;

describe('RequestPacer', () => {
  it('begins a few requests at once, and the others as others have had the event loop', async () => {
    const { take, begun } = setUp();
    for (let count = 0; count < 40; count++) take(`a${count}`);
    expect(begun).to.have.length(MAX);
    await nextSlice();
    expect(begun).to.have.length(2 * MAX);
    await nextSlice();
    expect(begun).to.deep.equal(Array.from({ length: 40 }, (_, index) => `a${index}`));
  });

  it('begins no further request in a slice that has taken five milliseconds', async () => {
    const { take, begun } = setUp({ tookMs: 2 });
    for (let count = 0; count < 4; count++) take(`a${count}`);
    take('b0');
    expect(begun).to.deep.equal(['a0', 'a1', 'a2']); // 6 ms
    await nextSlice();
    expect(begun.slice(3)).to.deep.equal(['a3', 'b0']);
  });

  it('begins one request in each slice, however slow they are', async () => {
    const { take, begun } = setUp({ tookMs: 1000 });
    for (let count = 0; count < 3; count++) take(`a${count}`);
    take('b0');
    expect(begun).to.deep.equal(['a0']);
    await nextSlice();
    await nextSlice();
    expect(begun).to.deep.equal(['a0', 'a1', 'b0']); // not after all others
    await nextSlice();
    expect(begun.at(-1)).to.equal('a2');
  });

  it('begins those that wait though nothing else happens', async () => {
    // A process ends when no pending event can resolve what it awaits.
    const program = `
      import { RequestPacer } from '#lib/apiserver/serving/request-limits.ts';
      const pacer = new RequestPacer({ monotonicMs: () => 0 });
      let begun = 0;
      const request = { address: 'a', begin: () => begun++, isOver: () => false };
      for (let count = 0; count < 40; count++) pacer.take({ ...request });
      process.on('exit', () => console.log(begun));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout.trim()).to.equal('40');
  });

  it('begins at once again when none waits', async () => {
    const { take, begun } = setUp();
    for (let slice = 1; slice <= 3; slice++) {
      for (let count = 0; count < MAX; count++) take('a');
      expect(begun).to.have.length(slice * MAX);
      await nextSlice();
    }
  });

  it('has addresses begin alternately', async () => {
    const { take, begun } = setUp();
    for (let count = 0; count < 100; count++) take(`a${count}`);
    take('b0');
    take('c0');
    await nextSlice();
    expect(begun.slice(MAX, MAX + 4)).to.deep.equal(['a16', 'b0', 'c0', 'a17']);
  });

  it('never begins what has been taken back meanwhile, however much that is', async () => {
    const { take, begun, over } = setUp();
    for (let count = 0; count < 5_000; count++) take(`a${count}`);
    take('z');
    for (let count = 0; count < 5_000; count++) over.add(`a${count}`);
    await nextSlice();
    expect(begun.slice(MAX)).to.deep.equal(['z']);
  });

  it('preserves the order of one address when a request arrives while others wait', async () => {
    const { take, begun } = setUp();
    for (let count = 0; count < MAX + 2; count++) take(`a${count}`);
    await nextSlice();
    take('a99');
    expect(begun.slice(-3)).to.deep.equal(['a16', 'a17', 'a99']);
  });
});

/** The name of a request is its address, a letter, with a number. */
function setUp({ tookMs = 0 } = {}) {
  let nowMs = 0;
  const pacer = new RequestPacer({ monotonicMs: () => nowMs });
  const begun: string[] = [];
  const over = new Set<string>();
  const begin = (name: string) => {
    begun.push(name);
    nowMs += tookMs;
  };
  const take = (name: string) =>
    pacer.take({ address: name.charAt(0), begin: () => begin(name), isOver: () => over.has(name) });
  return { take, begun, over };
}

function nextSlice(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
