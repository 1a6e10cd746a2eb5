import { once } from 'node:events';
import { Agent } from 'node:https';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { Gauge, Registry } from 'prom-client';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import type { ApiGroup } from '#lib/apiserver/resources/api-group.ts';
import { jsonOf, requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { startTestApiServer, TEST_VERSION } from '#spec/support/test-api-server.ts';

describe('startApiServer', () => {
  it('responds over HTTP/1.1 and HTTP/2 on one port', async () => {
    await using server = await startTestApiServer();
    const { port } = server.address;
    for (const request of [requestHttp1, requestHttp2]) {
      const response = await request({ port, path: '/version' });
      expect(response.status).to.equal(200);
      expect(jsonOf(response)).to.deep.equal(TEST_VERSION);
    }
  });

  it('serves the registry at /metrics', async () => {
    const registry = new Registry();
    new Gauge({ name: 'responses', help: 'Requests', registers: [registry] }).set(42);
    await using server = await startTestApiServer({ registry });
    const response = await requestHttp1({ port: server.address.port, path: '/metrics' });
    expect(response.headers['content-type']).to.match(/^text\/plain; version=0\.0\.4; charset=utf-8/);
    expect(response.body.toString()).to.include('\nresponses 42\n');
  });

  it('stamps every response with an audit ID, that of the request if it has one', async () => {
    await using server = await startTestApiServer();
    const { port } = server.address;
    const own = await requestHttp1({ port, path: '/none' });
    expect(own.headers['audit-id']).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const given = await requestHttp1({ port, path: '/none', headers: { 'Audit-Id': 'mine' } });
    expect(given.headers['audit-id']).to.equal('mine');
    expect(given.headers['cache-control']).to.equal('no-cache, private');
  });

  it('returns an audit ID as the same bytes, with a body that has a length', async () => {
    await using server = await startTestApiServer();
    for (const id of ['mine', 'm\xedn\xe9']) {
      const path = '/none?timeout=gr%C3%BC%C3%9Fe';
      const response = await requestHttp1({ port: server.address.port, path, headers: { 'Audit-Id': id } });
      expect(response.headers['audit-id']).to.equal(id);
      expect(Number(response.headers['content-length'])).to.equal(response.body.length);
      expect(response.body.toString()).to.include('grüße');
    }
  });

  it('lists the existing paths to callers of an unknown path', async () => {
    await using server = await startTestApiServer({ groups: [groupOf('lab.example')] });
    const response = await requestHttp1({ port: server.address.port, path: '/none' });
    expect(response.status).to.equal(404);
    const { paths } = jsonOf<{ paths: string[] }>(response);
    expect(paths).to.include.members([
      '/apis/lab.example',
      '/apis/lab.example/v1',
      '/livez/ping',
      '/version',
    ]);
    expect(paths).to.deep.equal(paths.toSorted());
  });

  it('lists the paths without failures to callers that request no other type', async () => {
    await using server = await startTestApiServer();
    const { port } = server.address;
    const { body } = await requestHttp1({ port, path: '/none' });
    for (const path of ['/', '/index.html']) {
      const response = await requestHttp1({ port, path });
      expect([response.status, response.body]).to.deep.equal([200, body]);
    }
  });

  it('responds to an internal error with a Status, logs the cause and continues', async () => {
    const logger = new RecordingLogger();
    const faulty = groupOf('lab.example', () => {
      throw new Error('the secret is 42');
    });
    await using server = await startTestApiServer({ groups: [faulty], logger });
    const { port } = server.address;
    const response = await requestHttp1({ port, path: '/apis/lab.example/v1/things' });
    expect(response.status).to.equal(500);
    expect(jsonOf(response)).to.include({ kind: 'Status', reason: 'InternalError', code: 500 });
    expect(response.body.toString()).not.to.include('secret');
    expect(logger.lines).to.deep.include({
      level: 'error',
      message: 'Cannot serve request',
      fields: { method: 'GET', path: '/apis/lab.example/v1/things', err: 'the secret is 42' },
      verbosity: 0,
    });
    expect((await requestHttp1({ port, path: '/livez' })).status).to.equal(200);
  });

  it('authenticates before it authorizes, and authorizes before it looks anything up', async () => {
    await using server = await startTestApiServer({
      groups: [groupOf('lab.example')],
      authenticator: async ({ headers }) =>
        headers.authorization === 'Bearer good'
          ? { name: 'alice', uid: '', groups: [], extra: {} }
          : undefined,
      authorizer: async ({ user, info }) => ({
        isAllowed: info.path !== '/secret',
        reason: `not to ${user.name}`,
      }),
    });
    const { port } = server.address;
    const stranger = await requestHttp1({ port, path: '/apis/lab.example/v1/things' });
    expect(stranger.status).to.equal(401);
    const headers = { Authorization: 'Bearer good' };
    expect((await requestHttp1({ port, path: '/apis/lab.example/v1/things', headers })).status).to.equal(200);
    const refused = await requestHttp1({ port, path: '/secret', headers });
    expect(refused.status).to.equal(403);
    expect(jsonOf(refused)).to.include({
      message: 'forbidden: User "alice" cannot get path "/secret": not to alice',
    });
  });

  it('closes idle connections at once when it is disposed, and lets requests in progress finish', async () => {
    const requested = Promise.withResolvers<void>();
    const mayRespond = Promise.withResolvers<void>();
    const slow = groupOf('lab.example', async () => {
      requested.resolve();
      await mayRespond.promise;
      return [];
    });
    const server = await startTestApiServer({ groups: [slow] });
    const { port } = server.address;
    using idle = disposable(new Agent({ keepAlive: true }));
    await requestHttp1({ port, path: '/livez', agent: idle.agent });
    const responses = [requestHttp1, requestHttp2].map((request) =>
      request({ port, path: '/apis/lab.example/v1/things' }),
    );
    await requested.promise;
    const disposed = server[Symbol.asyncDispose]();
    mayRespond.resolve();
    expect((await Promise.all(responses)).map(({ status }) => status)).to.deep.equal([200, 200]);
    await disposed;
  });

  it('marks the response as the last one of a persistent connection while it drains', async () => {
    const server = await startTestApiServer({ clock: new ManualClock() }); // the drain never times out
    const socket = connect({ port: server.address.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    let received = '';
    socket.on('data', (data) => {
      received += data;
    });
    socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /version HTTP/1.1\r\nHost: ');
    await eventually(() => received.endsWith('ok'));
    expect(received).to.include('Connection: keep-alive');
    received = '';
    const disposed = server[Symbol.asyncDispose]();
    socket.write('a\r\n\r\n');
    await once(socket, 'end');
    expect(received).to.match(/^HTTP\/1\.1 200 OK\r\n(.+\r\n)*Connection: close\r\n/);
    await disposed;
  });

  it('continues to serve for a while during shutdown, but is not ready', async () => {
    const clock = new ManualClock();
    const server = await startTestApiServer({ clock, shutdownDelayMs: 5000 });
    const { port } = server.address;
    expect((await requestHttp1({ port, path: '/readyz' })).status).to.equal(200);
    const ended = server[Symbol.asyncDispose]();
    await clock.advance(4999);
    expect((await requestHttp1({ port, path: '/readyz' })).status).to.equal(500);
    expect((await requestHttp1({ port, path: '/livez' })).status).to.equal(200);
    await clock.advance(1);
    await ended;
    expect(await requestHttp1({ port, path: '/livez' }).catch((error) => error.code)).to.equal(
      'ECONNREFUSED',
    );
  });

  it('cuts off requests in progress after the drain timeout', async () => {
    const requested = Promise.withResolvers<void>();
    const slow = groupOf('lab.example', () => {
      requested.resolve();
      return new Promise(() => {});
    });
    const server = await startTestApiServer({ groups: [slow], drainMs: 1 });
    const response = requestHttp1({ port: server.address.port, path: '/apis/lab.example/v1/things' });
    const failure = response.then(
      () => 'responded',
      (error: Error) => error.message,
    );
    await requested.promise;
    await server[Symbol.asyncDispose]();
    expect(await failure).to.equal('socket hang up');
  });

  for (const [protocol, request] of [
    ['HTTP/1.1', requestHttp1],
    ['HTTP/2', requestHttp2],
  ] as const) {
    it(`is disposed only after handlers of requests over ${protocol} have observed the end`, async () => {
      const requested = Promise.withResolvers<AbortSignal>();
      const endpoints = new Map<string, Endpoint>([
        [
          '/slow',
          ({ state }) => {
            requested.resolve(state.deadline.signal);
            return new Promise(() => {});
          },
        ],
      ]);
      const server = await startTestApiServer({ endpoints, drainMs: 1 });
      request({ port: server.address.port, path: '/slow' }).catch(() => {}); // the server aborts it
      const signal = await requested.promise;
      await server[Symbol.asyncDispose]();
      expect(signal.aborted).to.equal(true);
    });
  }

  it('ends the work of a request after its response, however slowly the client reads it', async () => {
    const requested = Promise.withResolvers<AbortSignal>();
    const endpoints = new Map<string, Endpoint>([
      [
        '/long',
        (context) => {
          requested.resolve(context.state.deadline.signal);
          context.body = Buffer.alloc(64 * 1024 * 1024);
        },
      ],
    ]);
    await using server = await startTestApiServer({ endpoints, drainMs: 1 });
    const socket = connect({ port: server.address.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.write('GET /long HTTP/1.1\r\nHost: a\r\n\r\n'); // without reading the response
    const signal = await requested.promise;
    await eventually(() => signal.aborted);
    socket.destroy();
  });

  it('throws with the address when that is in use', async () => {
    await using server = await startTestApiServer();
    const { port } = server.address;
    const second = await startTestApiServer({ port }).then(
      () => 'started',
      (error: Error) => error.message,
    );
    expect(second).to.equal(`Cannot listen on 127.0.0.1:${port}: address already in use`);
  });
});

/** A group with one resource `things`, by default without objects. */
function groupOf(
  name: string,
  list: () => readonly never[] | Promise<readonly never[]> = () => [],
): ApiGroup {
  const resources = [
    {
      type: 'objects' as const,
      name: 'things',
      singularName: 'thing',
      kind: 'Thing',
      listKind: 'ThingList',
      isNamespaced: false,
      columns: [],
      get: () => undefined,
      list,
    },
  ];
  return { name, versions: [{ version: 'v1', resources: () => resources }] };
}

function disposable(agent: Agent): Disposable & { readonly agent: Agent } {
  return { agent, [Symbol.dispose]: () => agent.destroy() };
}
