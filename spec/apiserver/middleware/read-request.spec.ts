import { once } from 'node:events';
import { connect, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { RequestHeaders } from '#lib/apiserver/access/front-proxy.ts';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { ANONYMOUS, type ApiContext, type User } from '#lib/apiserver/http/api-context.ts';
import { readRequest } from '#lib/apiserver/middleware/read-request.ts';
import { type ApiRequest, jsonOf, requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

describe('readRequest', () => {
  const read = (path: string, querystring: string) => {
    const req = { method: 'GET', url: `${path}?${querystring}` };
    const context = { req, method: 'GET', path, querystring, state: { query: undefined, info: undefined } };
    void readRequest(context as unknown as ApiContext, async () => {});
    return context.state;
  };
  const readQuery = (querystring: string) => read('/apis/metrics.k8s.io/v1beta1/pods', querystring).query;
  const isRetained = (querystring: string) => {
    const first = readQuery(querystring);
    return readQuery(querystring) === first;
  };

  it('parses each of the 4,000 URLs of 2,000 autoscalers once', () => {
    const pathOf = (index: number) =>
      `/apis/external.metrics.k8s.io/v1beta1/namespaces/team-${index % 50}/s${index % 2}-queue`;
    const cycle = () =>
      Array.from({ length: 4000 }, (_, index) => read(pathOf(index), `labelSelector=name%3Dweb-${index}`));
    cycle(); // cached values of other requests may be evicted meanwhile
    const [first, second] = [cycle(), cycle()];
    for (const [index, state] of second.entries()) {
      expect(state.query).to.equal(first[index]?.query);
      expect(state.info).to.equal(first[index]?.info);
    }
  });

  it('caches URLs whose query and selectors have at most ten parts', () => {
    const parts = 'abcdefghij'.split('');
    for (const [what, queryOf] of [
      ['requirements', (all: readonly string[]) => `labelSelector=${all.join(',')}`],
      ['values', (all: readonly string[]) => `labelSelector=a+in+(${all.join('%2C')})`],
      ['fields', (all: readonly string[]) => `fieldSelector=${all.map((x) => `metadata.name!=${x}`).join()}`],
      ['parameters', (all: readonly string[]) => all.join('&')],
    ] as const) {
      expect(isRetained(queryOf(parts)), what).to.equal(true);
      expect(isRetained(queryOf([...parts, 'k'])), what).to.equal(false);
    }
  });

  it('does not cache URLs with an invalid selector', () => {
    expect(isRetained('labelSelector=%3D')).to.equal(false);
    expect(isRetained('fieldSelector=spec.nodeName%3Da')).to.equal(false);
  });
});

const KIB = 1024;

/** Options of a client that sends longer headers than Node's does by default. */
const GENEROUS = { rejectUnauthorized: false, maxSendHeaderBlockLength: 1024 * KIB };

describe('limitHeaders', () => {
  const registry = new Registry();
  const logger = new RecordingLogger();
  let server: ApiServer;
  let user: User = ANONYMOUS;
  let authentications = 0;
  before(async () => {
    server = await startTestApiServer({
      registry,
      logger,
      authenticator: async ({ rawHeaders }) => {
        authentications++;
        const headers = new RequestHeaders(rawHeaders);
        const groups = headers.all(['x-remote-group']);
        const extra = Object.fromEntries(
          [...headers.withPrefix(['x-remote-extra-'])].map(([key, value]) => [key, [value]]),
        );
        user = { ...ANONYMOUS, groups, extra };
        return user;
      },
    });
  });
  after(() => server[Symbol.asyncDispose]());

  for (const send of [requestHttp1, requestHttp2]) {
    const get = async (request: Omit<ApiRequest, 'port'>) => {
      const session = connect(`https://127.0.0.1:${server.address.port}`, GENEROUS);
      try {
        return await send({ port: server.address.port, session, ...request });
      } finally {
        session.close();
      }
    };
    const version = (headers: OutgoingHttpHeaders) => get({ path: '/version', headers });

    it(`serves a user in 500 groups with 500 extra values, with ${send.name}`, async () => {
      const groups = numbered(500, 'group');
      const extras = Object.fromEntries(numbered(500, 'x-remote-extra-key').map((name) => [name, 'value']));
      const response = await version({ 'x-remote-user': 'alice', 'x-remote-group': groups, ...extras });
      expect(response.status).to.equal(200);
      expect(user.groups).to.deep.equal(groups);
      expect(Object.keys(user.extra)).to.have.lengthOf(500);
    });

    it(`accepts up to 10,000 headers and drops none, with ${send.name}`, async () => {
      const groups = numbered(9_900, 'g');
      expect((await version({ 'x-remote-group': groups })).status).to.equal(200);
      expect(user.groups).to.have.lengthOf(9_900);
      const refused = await version({ 'x-remote-group': numbered(10_001, 'g') });
      expect(refused.status).to.equal(431);
      expect(jsonOf(refused).message).to.equal('the request has more than 10000 headers');
    });

    for (const name of ['Accept', 'Accept-Encoding', 'User-Agent', 'Range', 'If-None-Match']) {
      it(`refuses ${name} beyond 8 KiB before authentication, with ${send.name}`, async () => {
        authentications = 0;
        const refused = await version({ [name]: `a/b,${'a'.repeat(8 * KIB)}` });
        expect(refused.status).to.equal(431);
        expect(refused.headers['content-type']).to.equal('application/json');
        expect(jsonOf(refused)).to.deep.include({
          code: 431,
          reason: 'RequestHeaderFieldsTooLarge',
          message: `the request header ${name} has more than 8192 bytes`,
        });
        expect(authentications).to.equal(0);
        expect((await version({ [name]: 'a/b,*/*' })).status).to.equal(200);
      });
    }

    it(`returns an audit ID only up to the maximum length, with ${send.name}`, async () => {
      expect((await version({ 'Audit-Id': 'a'.repeat(256) })).headers['audit-id']).to.equal('a'.repeat(256));
      const other = await version({ 'Audit-Id': 'a'.repeat(257) });
      expect(other.headers['audit-id']).to.match(/^[\da-f-]{36}$/);
    });
  }

  for (const [url, scheme] of [
    ['foo://host', undefined],
    ['http://[::1/version', 'foo'],
    ['http://[::1/version', undefined],
    ['?watch=1', 'foo'],
    ['#', 'foo'],
  ] as const) {
    const what = scheme ? `${url} over HTTP/2` : url;
    it(`responds with 400 to ${what}, and logs no error`, async () => {
      const { port } = server.address;
      const refused = scheme
        ? await requestHttp2({ port, path: url, headers: { ':scheme': scheme } })
        : await requestHttp1({ port, path: url });
      expect(refused.status).to.equal(400);
      expect(jsonOf(refused)).to.deep.include({
        reason: 'BadRequest',
        message: 'the URL of the request has no path',
      });
      expect(logger.lines).to.be.empty;
    });
  }

  it('finds the path in a whole URL', async () => {
    const { port } = server.address;
    expect((await requestHttp1({ port, path: 'http://host/version' })).status).to.equal(200);
  });

  it('refuses a path beyond 8 KiB before authentication', async () => {
    authentications = 0;
    const { port } = server.address;
    const refused = await requestHttp1({ port, path: `/${'a'.repeat(8 * KIB)}?pretty=1` });
    expect(refused.status).to.equal(414);
    expect(jsonOf(refused)).to.include({ message: 'the path of the request has more than 8192 bytes' });
    expect(authentications).to.equal(0);
    expect((await requestHttp1({ port, path: `/${'a'.repeat(8 * KIB - 1)}` })).status).to.equal(404);
  });

  it('refuses a URL beyond 128 KiB before authentication', async () => {
    authentications = 0;
    const refused = await requestHttp1({
      port: server.address.port,
      path: `/version?pretty=1&${'a&'.repeat(64 * KIB)}`,
    });
    expect(refused.status).to.equal(414);
    expect(jsonOf(refused)).to.deep.include({
      reason: 'RequestURITooLong',
      message: 'the request URI has more than 131072 bytes',
    });
    expect(authentications).to.equal(0);
    expect(
      (await requestHttp1({ port: server.address.port, path: `/version?${'a'.repeat(127 * KIB)}` })).status,
    ).to.equal(200);
  });

  it('accepts long groups, which a Go client sends in one frame, over HTTP/2', async () => {
    const groups = numbered(500, 'group').map((name) => name.padEnd(1_000, '-'));
    const status = await requestInOneFrame(
      server.address.port,
      groups.map((group) => ['x-remote-group', group]),
    );
    expect(status).to.equal(200);
    expect(user.groups).to.deep.equal(groups);
  });

  it('counts rejected requests', async () => {
    expect(await registry.metrics()).to.match(/refused_requests_total\{reason="headers_too_large"\} [1-9]/);
  });
});

function numbered(count: number, name: string): string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index}`);
}

const [HEADERS, SETTINGS] = [1, 4];

/** Requests /version with headers in one frame, longer than Node's own client permits. @returns the status */
async function requestInOneFrame(
  port: number,
  headers: readonly (readonly [string, string])[],
): Promise<number> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  await once(socket, 'secureConnect');
  const block = Buffer.concat([
    Buffer.of(0x82, 0x87), // :method GET, :scheme https
    literal(':path', '/version'),
    literal(':authority', 'server'),
    ...headers.map(([name, value]) => literal(name, value)),
  ]);
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)));
  let hasRequested = false;
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk]);
    if (!hasRequested && firstPayload(received, SETTINGS)) {
      hasRequested = true; // the server's settings apply once they are acknowledged
      socket.write(Buffer.concat([frame(SETTINGS, 0x1, 0, Buffer.alloc(0)), frame(HEADERS, 0x5, 1, block)]));
    }
    const payload = firstPayload(received, HEADERS);
    if (payload) return payload[0] === 0x88 ? 200 : 0; // the index of :status 200, which is the first header
  }
  return 0; // closed without headers
}

/** A field that is not indexed (RFC 7541, section 6.2.2), of less than 16,511 bytes. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0), text(name), text(value)]);
}

function text(value: string): Buffer {
  const { length } = value;
  const head = length < 127 ? [length] : [127, ((length - 127) & 0x7f) | 0x80, (length - 127) >> 7];
  return Buffer.concat([Buffer.from(head), Buffer.from(value)]);
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function firstPayload(bytes: Buffer, type: number): Buffer | undefined {
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (bytes[at + 3] === type && end <= bytes.length) return bytes.subarray(at + 9, end);
    at = end;
  }
  return undefined;
}
