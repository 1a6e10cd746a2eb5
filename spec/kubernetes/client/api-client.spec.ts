import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import {
  ClusterAccess,
  type ClusterCredentials,
  type ClusterSource,
} from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient, type ApiClientOptions, splitLines } from '#lib/kubernetes/client/api-client.ts';
import { ApiError, isExpired, TooLongResponse } from '#lib/kubernetes/client/api-error.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import { AdmittedResponses } from '#spec/support/admitted-responses.ts';
import { LoopbackServer, type ReceivedRequest } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RawServer } from '#spec/support/raw-server.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { TunnelProxy } from '#spec/support/tunnel-proxy.ts';
import { until } from '#spec/support/until.ts';

const authority = new CertificateAuthority('cluster-ca');
const serving = authority.issue({
  subject: { commonName: 'api' },
  usages: ['serverAuth'],
  names: ['127.0.0.1', 'kubernetes'],
});

describe('ApiClient', () => {
  let clock: ManualClock;
  let stack: AsyncDisposableStack;

  beforeEach(() => {
    clock = new ManualClock();
    stack = new AsyncDisposableStack();
  });

  afterEach(async () => {
    await stack.disposeAsync();
    expect(clock.sleeperCount).to.equal(0);
  });

  async function serve(
    response: (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>,
  ): Promise<LoopbackServer> {
    return stack.use(await LoopbackServer.start(response));
  }

  async function clientOf(
    server: URL,
    load: ClusterSource['load'] = async () => credentials({}),
    {
      proxy,
      ...limits
    }: { readonly proxy?: URL } & Partial<
      Pick<ApiClientOptions, 'maxResponseBytes' | 'longResponses' | 'share'>
    > = {},
  ): Promise<ApiClient> {
    const source = { server, proxy, load };
    const access = await ClusterAccess.open(source, { clock, logger: new RecordingLogger() });
    return stack.use(new ApiClient({ access, clock, userAgent: 'spec/1', ...limits }));
  }

  describe('getJson', () => {
    it('sends its credentials to paths below the base path of the server', async () => {
      const server = await serve((_, response) => void response.end('{"a":1}'));
      const client = await clientOf(new URL('/clusters/c/', server.url), async () =>
        credentials({ authorization: 'Bearer t' }),
      );
      expect(await client.getJson('/api?x=y', { accept: 'application/json;as=Table' })).to.deep.equal({
        a: 1,
      });
      const [request] = server.requests;
      expect(request?.url.pathname).to.equal('/clusters/c/api');
      expect(request?.url.search).to.equal('?x=y');
      expect(request?.headers).to.include({
        accept: 'application/json;as=Table',
        authorization: 'Bearer t',
        'user-agent': 'spec/1',
      });
    });

    it('requests JSON by default', async () => {
      const server = await serve((_, response) => void response.end('{}'));
      await (await clientOf(server.url)).getJson('/api');
      expect(server.requests[0]?.headers.accept).to.equal('application/json');
    });

    it('returns status, reason and Retry-After of a refusal', async () => {
      const server = await serve((_, response) => {
        response.writeHead(429, { 'retry-after': '7' });
        response.end(JSON.stringify({ kind: 'Status', message: 'slow down', reason: 'TooManyRequests' }));
      });
      const error = await failureOf((await clientOf(server.url)).getJson('/api/v1/nodes?limit=500'));
      expect(error).to.be.instanceOf(ApiError).and.include({
        message: 'Cannot get /api/v1/nodes: slow down (status 429)',
        statusCode: 429,
        reason: 'TooManyRequests',
        retryAfterMs: 7000,
      });
    });

    it('reads credentials again at once after 401, and not after 403', async () => {
      let [status, reads] = [200, 0];
      const server = await serve((_, response) => void response.writeHead(status).end('{}'));
      const client = await clientOf(server.url, async () =>
        credentials({ authorization: `Bearer ${++reads}` }),
      );
      for (status of [403, 401]) await failureOf(client.getJson('/api'));
      status = 200;
      await client.getJson('/api');
      expect(server.requests.map(({ headers }) => headers.authorization)).to.deep.equal([
        'Bearer 1',
        'Bearer 1',
        'Bearer 2',
      ]);
    });

    it('accepts neither a redirect nor any other status than success', async () => {
      let status = 0;
      const server = await serve((_, response) => {
        response.writeHead(status, { location: '/elsewhere' }).end('{"kind":"Pod"}');
      });
      const client = await clientOf(server.url);
      for (status of [300, 302, 307, 399])
        expect(await failureOf(client.getJson('/api'))).to.include({ name: 'ApiError', statusCode: status });
      expect(server.requests).to.have.length(4);
      for (status of [200, 201, 299]) expect(await client.getJson('/api')).to.deep.equal({ kind: 'Pod' });
    });

    it('quotes a refusal that is no Status', async () => {
      const server = await serve((_, response) => {
        response.writeHead(502);
        response.end('bad gateway\n');
      });
      const error = await failureOf((await clientOf(server.url)).getJson('/api'));
      expect(error).to.have.property('message', 'Cannot get /api: bad gateway (status 502)');
      expect(isExpired(error)).to.equal(false);
    });

    it('returns the status of a refusal that is too long to read', async () => {
      const server = await serve((_, response) => {
        response.writeHead(500);
        response.end('x'.repeat(1_000_000));
      });
      const error = await failureOf((await clientOf(server.url)).getJson('/api'));
      expect(error).to.have.property('message', `Cannot get /api: ${'x'.repeat(200)} (status 500)`);
    });

    it('reports a refused connection', async () => {
      const server = await LoopbackServer.start(() => {});
      const { url } = server;
      await server[Symbol.asyncDispose]();
      const error = await failureOf((await clientOf(url)).getJson('/api'));
      expect(describeError(error)).to.match(
        /^Cannot get \/api at http:\/\/127.0.0.1:\d+: connection refused$/,
      );
    });

    it('fails when the deadline passes before the response is complete', async () => {
      const responding = Promise.withResolvers<void>();
      const server = await serve((_, response) => {
        response.write('{');
        responding.resolve();
      });
      const failure = failureOf((await clientOf(server.url)).getJson('/api', { timeoutMs: 5000 }));
      await responding.promise;
      await clock.advance(5000);
      expect(describeError(await failure)).to.match(/^Cannot get \/api at .*: no response within 5s$/);
    });

    it('heeds the signal and its deadline though the server accepts and is silent', async () => {
      await using silent = await RawServer.start((socket) => socket.resume());
      const client = await clientOf(new URL(`https://127.0.0.1:${silent.port}`));
      const aborting = new AbortController();
      const aborted = client
        .getJson('/api', { signal: aborting.signal })
        .catch((error: Error) => error.message);
      const late = client.getJson('/api').catch(describeError);
      await until(clock, () => silent.sockets.length > 0);
      aborting.abort(new Error('shutting down'));
      expect(await aborted).to.equal('shutting down');
      await clock.advance(30_000);
      expect(await late).to.match(/no response within 30s$/);
    });

    it('leaves no connection to a silent server when it is disposed', async () => {
      await using silent = await RawServer.start((socket) => socket.resume());
      const client = await clientOf(new URL(`https://127.0.0.1:${silent.port}`));
      const aborting = new AbortController();
      const requested = client.getJson('/api', { signal: aborting.signal }).catch(() => {});
      await until(clock, () => silent.sockets.length > 0);
      aborting.abort(new Error('shutting down'));
      await requested;
      await client[Symbol.asyncDispose]();
      // Counts iterations of the event loop, not time: after ten seconds the connection would time out anyway.
      for (let turn = 0; turn < 10_000 && !silent.sockets[0]?.closed; turn++) await setImmediate();
      expect(silent.sockets[0]?.closed).to.equal(true);
    });

    it("throws the signal's own reason when it aborts", async () => {
      const requested = Promise.withResolvers<void>();
      const server = await serve(() => requested.resolve());
      const controller = new AbortController();
      const failure = failureOf((await clientOf(server.url)).getJson('/api', { signal: controller.signal }));
      await requested.promise;
      const reason = new Error('enough');
      controller.abort(reason);
      expect(await failure).to.equal(reason);
    });

    it('fails when credentials take too long', async () => {
      const server = await serve((_, response) => void response.end('{}'));
      let isStuck = false;
      const client = await clientOf(server.url, (signal) =>
        isStuck ? raceAbort(new Promise<never>(() => {}), signal) : Promise.resolve(credentials({})),
      );
      isStuck = true;
      await clock.advance(10_000);
      const failure = failureOf(client.getJson('/api', { timeoutMs: 5000 }));
      await clock.advance(5000);
      expect(describeError(await failure)).to.contain('no response within 5s');
      await clock.advance(5000);
    });

    it('refuses a response that is too long or no JSON', async () => {
      const server = await serve(
        ({ url }, response) => void response.end(url.pathname === '/long' ? '"123456789"' : '{'),
      );
      const client = await clientOf(server.url, undefined, { maxResponseBytes: 10 });
      const tooLong = await failureOf(client.getJson('/long'));
      expect(describeError(tooLong)).to.match(/response has more than 10 bytes$/);
      expect(tooLong).to.be.instanceOf(TooLongResponse);
      expect(describeError(await failureOf(client.getJson('/x')))).to.match(/: response is not JSON$/);
    });

    it('fails once it is disposed, and aborts requests in progress', async () => {
      const requested = Promise.withResolvers<void>();
      const server = await serve(() => requested.resolve());
      const client = await clientOf(server.url);
      const failure = failureOf(client.getJson('/api'));
      await requested.promise;
      await client[Symbol.asyncDispose]();
      expect(await failure).to.be.instanceOf(Error);
      expect(describeError(await failureOf(client.getJson('/api')))).to.match(/: client is closed$/);
    });
  });

  describe('getJson of long responses', () => {
    const long = JSON.stringify({ text: 'x'.repeat(128 * 1024) });

    it('reads as many at once as are allowed, half of them for one tenant', async () => {
      const server = await serve(({ url }, response) => {
        response.write(long);
        if (url.pathname === '/whole') response.end();
      });
      const longResponses = new AdmittedResponses({ maxConcurrent: 4 });
      const client = await clientOf(server.url, undefined, { longResponses });
      const leaving = new AbortController();
      const { signal } = leaving;
      const get = (tenant: string, path: string) =>
        runForTenant(tenant, () => client.getJson(path, { signal }));
      const endless = [get('greedy', '/endless'), get('greedy', '/endless')].map((one) =>
        one.catch(describeError),
      );
      await until(clock, () => server.requests.length === 2);
      await until(clock, () => longResponses.admitted.length === 2);
      const third = get('greedy', '/whole');
      await until(clock, () => longResponses.waitingCount === 1);
      expect(await get('other', '/whole')).to.have.property('text');
      expect(longResponses.admitted).to.deep.equal(['greedy', 'greedy', 'other']);
      expect(longResponses.waitingCount).to.equal(1);
      leaving.abort(new Error('gone'));
      for (const one of [...endless, third.catch(describeError)]) expect(await one).to.equal('gone');
    });

    it('parses each in a share of the event loop', async () => {
      const server = await serve((_, response) => void response.end(long));
      const share = new EventLoopShare(clock);
      const client = await clientOf(server.url, undefined, { share });
      let isHeld = false;
      const { promise, resolve } = Promise.withResolvers<void>();
      share.next = async () => {
        isHeld = true;
        await promise;
      };
      const parsed = client.getJson('/');
      await until(clock, () => isHeld);
      resolve();
      expect(await parsed).to.have.property('text');
    });
  });

  describe('postJson', () => {
    it('sends its body as JSON', async () => {
      const server = await serve((_, response) => {
        response.writeHead(201);
        response.end('{"kind":"TokenReview"}');
      });
      const client = await clientOf(server.url);
      expect(await client.postJson('/reviews', { a: 1 })).to.deep.equal({ kind: 'TokenReview' });
      expect(server.requests[0]).to.include({ method: 'POST', body: '{"a":1}' });
      expect(server.requests[0]?.headers).to.include({ 'content-type': 'application/json' });
    });
  });

  describe('over TLS', () => {
    const tls = {
      key: serving.privateKeyPem,
      cert: serving.certificatePem,
      ca: authority.certificatePem,
      requestCert: true,
      rejectUnauthorized: false,
    };
    const keyed = (commonName: string) => {
      const { certificatePem, privateKeyPem } = authority.issue({
        subject: { commonName },
        usages: ['clientAuth'],
      });
      return { ca: authority.certificatePem, cert: certificatePem, key: privateKeyPem };
    };

    async function serveTls(): Promise<LoopbackServer> {
      return stack.use(await LoopbackServer.start((_, response) => void response.end('{}'), tls));
    }

    it('shows its client certificate, and the next one once that has rotated', async () => {
      const server = await serveTls();
      let commonName = 'first';
      const client = await clientOf(server.url, async () => credentials({ tls: keyed(commonName) }));
      await client.getJson('/');
      commonName = 'second';
      await client.getJson('/');
      await clock.advance(10_000);
      await client.getJson('/');
      expect(server.requests.map(({ peerName }) => peerName)).to.deep.equal(['first', 'first', 'second']);
    });

    it('connects through a proxy without trusting it', async () => {
      const server = await serveTls();
      const proxy = stack.use(await TunnelProxy.start());
      const client = await clientOf(server.url, async () => credentials({ tls: keyed('a') }), {
        proxy: proxy.url,
      });
      expect(await client.getJson('/')).to.deep.equal({});
      expect(proxy.tunnels).to.deep.equal([server.url.host]);
      expect(server.requests[0]?.peerName).to.equal('a');
    });

    it('speaks HTTP/1.1 with a server that would speak HTTP/2, directly and through a proxy', async () => {
      const offered: string[][] = [];
      const ALPNCallback = ({ protocols }: { protocols: string[] }) => {
        offered.push(protocols);
        return protocols.includes('h2') ? 'h2' : 'http/1.1';
      };
      const server = stack.use(
        await LoopbackServer.start((_, response) => void response.end('{}'), { ...tls, ALPNCallback }),
      );
      const proxy = stack.use(await TunnelProxy.start());
      const load = async () => credentials({ tls: keyed('a') });
      await (await clientOf(server.url, load)).getJson('/');
      await (await clientOf(server.url, load, { proxy: proxy.url })).getJson('/');
      expect(offered.flat()).not.to.include('h2');
      expect(server.requests).to.have.length(2);
    });

    it('distrusts a foreign server, and one of another name', async () => {
      const server = await serveTls();
      const foreign = await clientOf(server.url, async () =>
        credentials({ tls: { ca: new CertificateAuthority('other').certificatePem } }),
      );
      expect(describeError(await failureOf(foreign.getJson('/')))).to.match(
        /self-signed|unable to verify|certificate/,
      );
      const renamed = await clientOf(server.url, async () =>
        credentials({ tls: { ca: authority.certificatePem, servername: 'elsewhere' } }),
      );
      expect(describeError(await failureOf(renamed.getJson('/')))).to.contain(
        "does not match certificate's altnames",
      );
      expect(server.requests).to.have.length(0);
    });

    it('accepts the expected server name, and any name without verification', async () => {
      const server = await serveTls();
      for (const reported of [
        { ca: authority.certificatePem, servername: 'kubernetes' },
        { rejectUnauthorized: false },
      ]) {
        expect(
          await (await clientOf(server.url, async () => credentials({ tls: reported }))).getJson('/'),
        ).to.deep.equal({});
      }
    });
  });

  describe('streamLines', () => {
    it('yields each line as it arrives, even after the deadline of the request', async () => {
      const open = Promise.withResolvers<ServerResponse>();
      const server = await serve((_, response) => {
        response.write('{"n":1}\n\n{"n"');
        open.resolve(response);
      });
      const lines = await (await clientOf(server.url)).streamLines('/watch');
      expect(await lines.next()).to.deep.equal({ done: false, value: '{"n":1}' });
      await clock.advance(3_600_000);
      const response = await open.promise;
      response.end(':2}\n');
      expect(await lines.next()).to.deep.equal({ done: false, value: '{"n":2}' });
      expect(await lines.next()).to.deep.equal({ done: true, value: undefined });
    });

    it('fails when a server does not begin within the deadline', async () => {
      const requested = Promise.withResolvers<void>();
      const server = await serve(() => requested.resolve());
      const failure = failureOf((await clientOf(server.url)).streamLines('/watch'));
      await requested.promise;
      await clock.advance(30_000);
      expect(describeError(await failure)).to.match(/^Cannot get \/watch at .*: no response within 30s$/);
    });

    it('heeds the deadline and the signal that it is given', async () => {
      let requested = Promise.withResolvers<void>();
      const server = await serve(() => requested.resolve());
      const client = await clientOf(server.url);
      const late = failureOf(client.streamLines('/watch', { timeoutMs: 5_000 }));
      await requested.promise;
      await clock.advance(5_000);
      expect(describeError(await late)).to.match(/: no response within 5s$/);
      requested = Promise.withResolvers();
      const leaving = new AbortController();
      const left = failureOf(client.streamLines('/watch', { signal: leaving.signal }));
      await requested.promise;
      leaving.abort(new Error('enough'));
      expect(await left).to.equal(leaving.signal.reason);
    });

    it('throws the refusal of the server', async () => {
      const server = await serve((_, response) => {
        response.writeHead(410);
        response.end(JSON.stringify({ kind: 'Status', message: 'too old', reason: 'Expired', code: 410 }));
      });
      const error = await failureOf((await clientOf(server.url)).streamLines('/watch'));
      expect(isExpired(error)).to.equal(true);
    });

    it('reports an aborted stream', async () => {
      const server = await serve((_, response) => void response.end('{"n":1}\n{"n"'));
      const lines = await (await clientOf(server.url)).streamLines('/watch');
      await lines.next();
      expect(describeError(await failureOf(lines.next()))).to.match(/: stream ended within a line$/);
    });

    it('ends when the signal aborts, and leaves no connection', async () => {
      const closed = Promise.withResolvers<void>();
      const server = await serve((_, response) => {
        response.on('close', closed.resolve);
        response.write('1\n');
      });
      const controller = new AbortController();
      const lines = await (await clientOf(server.url)).streamLines('/watch', { signal: controller.signal });
      await lines.next();
      const failure = failureOf(lines.next());
      const reason = new Error('enough');
      controller.abort(reason);
      expect(await failure).to.equal(reason);
      await closed.promise;
    });

    it('leaves nothing at the signal of its reader, however it ends', async () => {
      const { signal } = new AbortController();
      const ends = ['1\n', '1\n{'];
      const server = await serve((_, response) => void response.end(ends.shift() ?? '1\n'));
      const client = await clientOf(server.url);
      for await (const line of await client.streamLines('/watch', { signal })) expect(line).to.equal('1');
      const broken = await client.streamLines('/watch', { signal });
      await broken.next();
      await failureOf(broken.next());
      for await (const _ of await client.streamLines('/watch', { signal })) break;
      expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
    });

    it('leaves no connection when its reader leaves', async () => {
      const closed = Promise.withResolvers<void>();
      const server = await serve((_, response) => {
        response.on('close', closed.resolve);
        response.write('1\n');
      });
      for await (const line of await (await clientOf(server.url)).streamLines('/watch')) {
        expect(line).to.equal('1');
        break;
      }
      await closed.promise;
    });
  });
});

function credentials(facts: {
  readonly tls?: Partial<ClusterCredentials['tls']>;
  readonly authorization?: string;
}): ClusterCredentials {
  const none = {
    ca: undefined,
    cert: undefined,
    key: undefined,
    servername: undefined,
    rejectUnauthorized: true,
  };
  return { tls: { ...none, ...facts.tls }, authorization: facts.authorization };
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => expect.fail('it did not fail'),
    (reason: unknown) => reason,
  );
}

describe('splitLines', () => {
  it('yields the same lines wherever the bytes are split', async () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat({ max: 20 })), async (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        expect(await read(chunksOf(bytes, cuts), 1000)).to.deep.equal(lines.filter((text) => text !== ''));
      }),
    );
  });

  it('refuses a line that is too long, complete or not', async () => {
    for (const text of ['12345\n', '12345']) {
      const error = await read([Buffer.from(text)], 4).catch((reason: unknown) => reason);
      expect(error).to.have.property('message', 'line has more than 4 bytes');
    }
  });

  it('refuses to end within a line', async () => {
    const error = await read([Buffer.from('1\n2')], 4).catch((reason: unknown) => reason);
    expect(error).to.have.property('message', 'stream ended within a line');
  });
});

async function read(chunks: readonly Uint8Array[], maxLineBytes: number): Promise<string[]> {
  async function* stream() {
    yield* chunks;
  }
  return await Array.fromAsync(splitLines(stream(), maxLineBytes));
}

function chunksOf(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let start = 0;
  for (const length of cuts) {
    chunks.push(bytes.subarray(start, start + length));
    start += length;
  }
  return [...chunks, bytes.subarray(start)];
}
