import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:http2';
import { request } from 'node:https';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { ANONYMOUS, type Endpoint } from '#lib/apiserver/http/api-context.ts';
import { requestHttp1 } from '#spec/support/api-request.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { Thing, thingsResource } from '#spec/support/served-things.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

const MIB = 1024 * 1024;
const LIST = 'application/json';
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';

describe('accountResponse', () => {
  it('hands sockets no more than pieces of a long response that is not read', async () => {
    await using server = await setUp(256 * MIB);
    using sent = unsentBytes();
    for (const accept of [LIST, TABLE, 'application/yaml']) await server.neglectHttp1(accept);
    const perResponse = sent.all();
    expect(perResponse).to.have.lengthOf(3);
    for (const bytes of perResponse) expect(bytes).to.be.at.most(MIB);
    expect(Math.max(...perResponse)).to.be.greaterThan(0);
  });

  for (const protocol of ['neglectHttp1', 'neglectHttp2'] as const) {
    it(`serves other users while one user reads none of their 50 lists, requested over ${protocol}`, async () => {
      await using server = await setUp(4 * MIB, MORE_THAN_SOCKETS_BUFFER);
      for (let client = 0; client < 50; client++) void server[protocol](LIST);
      await eventually(async () => (await server.metric('apiserver_waiting_responses')) === 42); // 8 are buffered
      expect(await server.metric('apiserver_held_response_bytes')).to.be.within(1, 4 * MIB);
      const response = server.send(LIST, 'Bearer bob');
      await eventually(async () => (await server.metric('apiserver_waiting_responses')) === 43);
      await server.clock.advance(2_000);
      expect((await response).status).to.equal(200);
      expect(await server.refusals()).to.be.greaterThan(0);
    });

    it(`makes no more tables than fit in memory for 20 clients that read none, requested over ${protocol}`, async () => {
      await using server = await setUp(64 * MIB);
      for (let client = 0; client < 20; client++) void server[protocol](TABLE);
      await eventually(async () => (await server.metric('apiserver_waiting_responses')) > 5);
      expect(await server.metric('apiserver_held_response_bytes')).to.be.within(1, 64 * MIB);
    });
  }

  it('responds with 429 after ten seconds when no response can be cut off', async () => {
    await using server = await setUp();
    const made = server.requestEndpoint();
    await eventually(async () => (await server.metric('apiserver_held_response_bytes')) > 0);
    const late = server.send(TABLE, 'Bearer bob');
    await eventually(async () => (await server.metric('apiserver_waiting_responses')) === 1);
    await server.clock.advance(10_000);
    const { status, headers } = await late;
    expect([status, headers['retry-after']]).to.deep.equal([429, '1']);
    server.finish();
    expect((await made).status).to.equal(200);
    await eventually(async () => (await server.metric('apiserver_held_response_bytes')) === 0);
  });

  it('sends short responses at once, whatever memory others take', async () => {
    await using server = await setUp();
    for (let client = 0; client < 20; client++) void server.neglectHttp1(TABLE);
    await eventually(async () => (await server.metric('apiserver_waiting_responses')) > 5);
    for (const path of ['/version', '/livez'])
      expect((await requestHttp1({ port: server.port, path })).status).to.equal(200);
  });
});

/** The unsent bytes in the socket buffers of each response over HTTP/1.1. */
function unsentBytes(): Disposable & { all(): readonly number[] } {
  const sent: { readonly response: ServerResponse; readonly socket: Socket }[] = [];
  const note = (message: unknown) => sent.push(message as (typeof sent)[number]); // as Node documents it
  subscribe('http.server.request.start', note);
  return {
    all: () => sent.map(({ response, socket }) => Math.max(response.writableLength, socket.writableLength)),
    [Symbol.dispose]: () => void unsubscribe('http.server.request.start', note),
  };
}

/** Things whose list takes 12 MB: Linux's buffers of both sockets grow to 4 and 6 MiB, and would take a shorter one. */
const MORE_THAN_SOCKETS_BUFFER = 140_000;

async function setUp(maxBufferedBytes = 4 * MIB, thingCount = 40_000) {
  const clock = new ManualClock();
  const registry = new Registry();
  const things = Array.from({ length: thingCount }, (_, index) => new Thing(`thing-${index}`));
  const resources = [thingsResource(() => [things])];
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const slowlyMade: Endpoint = async (context) => {
    await context.state.buffered?.reserve(maxBufferedBytes);
    await finished;
    context.body = Buffer.alloc(MIB);
  };
  const server = await startTestApiServer({
    groups: [{ name: 'lab.example', versions: [{ version: 'v1', resources: () => resources }] }],
    registry,
    clock,
    maxBufferedBytes,
    endpoints: new Map([['/slowly-made', slowlyMade]]),
    authenticator: async ({ headers }) =>
      headers.authorization
        ? { ...ANONYMOUS, name: headers.authorization.slice('Bearer '.length), groups: [] }
        : ANONYMOUS,
  });
  const { port } = server.address;
  const path = '/apis/lab.example/v1/things';
  const open: { destroy(): void }[] = [];
  const metric = async (series: string) => {
    const line = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${series} `));
    return Number(line?.slice(series.length) ?? 0);
  };
  return {
    clock,
    port,
    finish,
    requestEndpoint: () => requestHttp1({ port, path: '/slowly-made' }),
    metric,
    send: (accept: string, authorization: string) =>
      requestHttp1({ port, path, headers: { accept, authorization } }),
    refusals: () => metric('apiserver_refused_requests_total{reason="held_responses"}'),
    async neglectHttp1(accept: string): Promise<void> {
      const headers = { accept, authorization: 'Bearer mallory' };
      const outgoing = request({ port, path, headers, agent: false, rejectUnauthorized: false });
      outgoing.on('error', () => {}); // aborted
      outgoing.end();
      open.push(outgoing);
      await new Promise((resolve) => outgoing.once('response', resolve));
    },
    async neglectHttp2(accept: string): Promise<void> {
      const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
      open.push(session);
      session.on('error', () => {});
      session.request({ ':path': path, accept, authorization: 'Bearer mallory' }).on('error', () => {});
    },
    async [Symbol.asyncDispose]() {
      for (const client of open) client.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}
