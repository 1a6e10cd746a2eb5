import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { ANONYMOUS } from '#lib/apiserver/http/api-context.ts';
import { jsonOf, requestHttp1 } from '#spec/support/api-request.ts';
import { eventually } from '#spec/support/eventually.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { thingsResource } from '#spec/support/served-things.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

describe('limitInFlight', () => {
  let server: ApiServer;
  let mayRespond = Promise.withResolvers<readonly []>();
  let requested = Promise.withResolvers<void>();
  const recognising = Promise.withResolvers<void>();
  const isRecognised = Promise.withResolvers<void>();
  let hasGone = false;
  before(async () => {
    const list = () => {
      requested.resolve();
      return mayRespond.promise;
    };
    const resources = [thingsResource(() => [], { list })];
    server = await startTestApiServer({
      groups: [{ name: 'lab.example', versions: [{ version: 'v1', resources: () => resources }] }],
      inFlightLimits: { reading: 1, mutating: 0 },
      authenticator: async ({ headers, socket }) => {
        if (headers['x-slow']) {
          socket.once('close', () => {
            hasGone = true;
          });
          recognising.resolve();
          await isRecognised.promise;
        }
        return headers.authorization ? { ...ANONYMOUS, groups: ['system:masters'] } : ANONYMOUS;
      },
    });
  });
  beforeEach(() => {
    mayRespond = Promise.withResolvers();
    requested = Promise.withResolvers();
  });
  after(() => server[Symbol.asyncDispose]());
  const list = (headers = {}, method = 'GET') =>
    requestHttp1({ port: server.address.port, path: '/apis/lab.example/v1/things', headers, method });

  it('responds with 429 and Retry-After beyond the limit, and serves requests afterwards', async () => {
    const first = list();
    await requested.promise;
    const second = await list();
    expect(second.status).to.equal(429);
    expect(second.headers['retry-after']).to.equal('1');
    expect(jsonOf(second)).to.deep.include({
      reason: 'TooManyRequests',
      message: 'Too many requests, please try again later.',
      details: { retryAfterSeconds: 1 },
    });
    mayRespond.resolve([]);
    expect((await first).status).to.equal(200);
    expect((await list()).status).to.equal(200);
  });

  it('always serves administrators', async () => {
    const first = list();
    await requested.promise;
    expect((await list()).status).to.equal(429);
    requested = Promise.withResolvers();
    const second = list({ authorization: 'Bearer admin' });
    await requested.promise; // the first is still in progress
    mayRespond.resolve([]);
    expect([(await first).status, (await second).status]).to.deep.equal([200, 200]);
  });

  it('releases the slot of a client that left during authentication', async () => {
    const leaving = new AbortController();
    const url = `https://127.0.0.1:${server.address.port}/apis/lab.example/v1/things`;
    const headers = { 'X-Slow': 'yes' };
    const gone = requestHttps(url, { rejectUnauthorized: false, signal: leaving.signal, headers }).catch(
      () => {},
    );
    await recognising.promise;
    leaving.abort();
    await gone;
    await eventually(() => hasGone);
    isRecognised.resolve();
    mayRespond.resolve([]);
    await eventually(async () => (await list()).status === 200);
  });

  it('counts what would change things apart', async () => {
    expect((await list({}, 'DELETE')).status).to.equal(429);
    mayRespond.resolve([]);
    expect((await list()).status).to.equal(200);
  });
});
