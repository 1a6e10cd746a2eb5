import { once } from 'node:events';
import { Agent } from 'node:https';
import { connect } from 'node:tls';
import { expect } from 'chai';
import type { ServingCertificates } from '#lib/apiserver/serving/serving-certificates.ts';
import { UnreadableReview } from '#lib/scaled-objects/validation/admission-review.ts';
import { startWebhookServer } from '#lib/scaled-objects/validation/webhook-server.ts';
import { type Clock, systemClock } from '#lib/time/clock.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const PATH = '/validate-keda-sh-v1alpha1-scaledobject';
/** Six times as much is a large body, and fills whole blocks of memory. */
const BLOCKS = 27 * 16 * 1024;
/** The limit of one address. */
const HALF = 16 * 2 ** 20;
const JSON_TYPE = { 'content-type': 'application/json' };

describe('startWebhookServer', () => {
  it('passes reviews to the reviewer of the path, with any query', async () => {
    await using server = await start();
    const { status, headers, body } = await server.post(`${PATH}?timeout=10s`, '{"a":1}');
    expect({ status, body: JSON.parse(body) }).to.deep.equal({ status: 200, body: { seen: '{"a":1}' } });
    expect(headers['content-type']).to.equal('application/json');
  });

  it('rejects other paths, methods and media types, and explains an unreadable review', async () => {
    await using server = await start();
    expect((await server.post('/', '{}')).status).to.equal(404);
    expect((await server.post(PATH, undefined, { method: 'GET' })).status).to.equal(405);
    expect((await server.post(PATH, '{}', { headers: { 'content-type': 'text/plain' } })).status).to.equal(
      415,
    );
    const refused = await server.post(PATH, 'bad\u001b[31m');
    expect(refused).to.deep.include({ status: 400, body: 'it is bad\\u001b[31m\n' });
    expect(server.logger.lines).to.deep.equal([]);
  });

  it('does not buffer a body that is too long, and still responds', async () => {
    await using server = await start();
    const { status, body } = await server.post(PATH, Buffer.alloc(3 * 1024 * 1024 + 1, ' '));
    expect({ status, body }).to.deep.equal({
      ...{ status: 413, body: `the body exceeds ${3 * 1024 * 1024} bytes\n` },
    });
    expect((await server.post(PATH, Buffer.alloc(3 * 1024 * 1024, ' '))).status).to.equal(200);
  });

  it('buffers half of the total for one address, the rest for others, and releases it', async () => {
    await using server = await start();
    const slow = await Promise.all(Array.from({ length: 6 }, () => server.begin(6 * BLOCKS)));
    for (const { socket } of slow) await server.takes(socket);
    const tooMuch = Buffer.alloc(HALF - 6 * 6 * BLOCKS + 1, ' '); // by its last byte: all of it is sent
    await expectEventually(async () => (await server.post(PATH, tooMuch)).status === 503);
    const other = await server.post(PATH, tooMuch, { localAddress: '127.0.0.2' });
    expect(other.status).to.equal(200);
    for (const { socket } of slow) socket.destroy();
    await expectEventually(async () => (await server.post(PATH, tooMuch)).status === 200);
  });

  it('buffers bodies until they are reviewed', async () => {
    await using server = await start();
    const slow = Buffer.alloc(6 * BLOCKS, ' ');
    slow.write('slow');
    const judged = Array.from({ length: 6 }, () => server.post(PATH, slow));
    await expectEventually(async () => server.judging.count === 6);
    const tooMuch = Buffer.alloc(HALF - 6 * slow.length + 1, ' '); // by its last byte: all of it is sent
    expect((await server.post(PATH, tooMuch)).status).to.equal(503);
    server.judging.end.resolve();
    for (const { status } of await Promise.all(judged)) expect(status).to.equal(200);
    expect((await server.post(PATH, tooMuch)).status).to.equal(200);
  });

  it('accepts a body that arrives byte by byte', async () => {
    await using server = await start();
    const { socket } = await server.begin(0, 3_000);
    const response = once(socket, 'data');
    for (let byte = 0; byte < 3_000; byte++) socket.write('x');
    expect(String((await response)[0])).to.match(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it('logs its own errors once after each success, and reveals no details to the client', async () => {
    await using server = await start();
    for (const body of ['bug', 'bug', 'bad', 'bug']) await server.post(PATH, body);
    expect(server.logger.lines).to.have.length(1);
    await server.post(PATH, '{}');
    expect(await server.post(PATH, 'bug')).to.deep.include({
      ...{ status: 500, body: 'Cannot review object: internal error\n' },
    });
    expect(server.logger.lines).to.have.length(2);
  });

  it('shows the certificate that is there now', async () => {
    await using server = await start();
    await server.post(PATH, '{}');
    server.renew();
    await server.post(PATH, '{}');
    expect(server.logger.lines).to.deep.equal([]);
  });

  it('keeps open connections when the certificate changes, and uses the new one for the next', async () => {
    await using server = await start();
    const { ca } = server;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const connections = new Set<unknown>();
    agent.on('keylog', (_, socket) => connections.add(socket));
    for (let request = 0; request < 2; request++) {
      expect((await server.post(PATH, '{}', { agent, ca })).status).to.equal(200);
      server.renew();
    }
    expect(connections.size).to.equal(1);
    expect((await server.post(PATH, '{}')).status).to.equal(200); // it trusts only the new authority
    agent.destroy();
  });

  it('closes a connection whose request is not complete a second after the server stops', async () => {
    const clock = new ManualClock();
    const server = await start({ clock });
    const { socket } = await server.begin(1000);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const disposed = server[Symbol.asyncDispose]();
    await clock.advance(999);
    expect(socket.closed).to.equal(false);
    await clock.advance(1);
    await disposed;
    await closed;
  });
});

async function expectEventually(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

async function start({ clock = systemClock }: { readonly clock?: Clock } = {}) {
  const issue = () => {
    const authority = new TestAuthority('webhooks');
    return { ca: authority.pem, pair: authority.leaf({ usages: ['serverAuth'], names: ['localhost'] }) };
  };
  let [{ ca, pair }, changed] = [issue(), () => {}];
  const certificates: ServingCertificates = {
    get current() {
      return pair;
    },
    named: [],
    onChange(listener) {
      changed = listener;
    },
  };
  const logger = new RecordingLogger();
  const judging = { count: 0, end: Promise.withResolvers<void>() };
  const admission = {
    paths: new Set([PATH]),
    async review(_: string, body: Uint8Array) {
      const observed = Buffer.from(body).toString();
      if (observed.startsWith('bad')) throw new UnreadableReview(`it is ${observed}`);
      if (observed.startsWith('bug')) throw new TypeError('secret of the program');
      if (observed.startsWith('slow')) {
        judging.count++;
        await judging.end.promise;
      }
      return { seen: observed.slice(0, 100) };
    },
  };
  const server = await startWebhookServer({
    host: '127.0.0.1',
    port: 0,
    certificates,
    admission,
    clock,
    logger,
  });
  const url = `https://localhost:${server.port}`;
  return {
    logger,
    judging,
    get ca() {
      return ca;
    },
    renew() {
      ({ ca, pair } = issue());
      changed();
    },
    post: (path: string, body: string | Uint8Array | undefined, more: object = {}) =>
      requestHttps(`${url}${path}`, {
        ca,
        method: 'POST',
        headers: JSON_TYPE,
        ...(body && { body }),
        ...more,
      }),
    /** A request that sends so many bytes and never completes. */
    async begin(bytes: number, length = bytes + 1) {
      const socket = connect({ port: server.port, host: '127.0.0.1', servername: 'localhost', ca });
      await once(socket, 'secureConnect');
      socket.on('error', () => {});
      socket.resume();
      socket.write(
        `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
      );
      socket.write(' '.repeat(bytes));
      return { socket };
    },
    async takes(socket: { readonly writableLength: number }) {
      await expectEventually(async () => socket.writableLength === 0);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
