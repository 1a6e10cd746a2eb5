import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { jsonOf, requestHttp1 } from '#spec/support/api-request.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { thingsResource } from '#spec/support/served-things.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';
import { until } from '#spec/support/until.ts';

describe('requestDeadline', () => {
  const clock = new ManualClock();
  let server: ApiServer;
  let requested = Promise.withResolvers<void>();
  before(async () => {
    const never = () => {
      requested.resolve();
      return new Promise<never>(() => {});
    };
    const resources = [thingsResource(() => [], { list: never })];
    server = await startTestApiServer({
      groups: [{ name: 'lab.example', versions: [{ version: 'v1', resources: () => resources }] }],
      clock,
      requestTimeoutMs: 30_000,
    });
  });
  beforeEach(() => {
    requested = Promise.withResolvers();
  });
  after(() => server[Symbol.asyncDispose]());
  const request = (path: string) => requestHttp1({ port: server.address.port, path });

  for (const [query, limitMs] of [
    ['', 30_000],
    ['?timeout=5s', 5_000],
    ['?timeout=2m', 30_000],
    ['?timeout=0', 30_000],
  ] as const) {
    it(`responds with 504 after ${limitMs / 1000} s to a list${query} without a response`, async () => {
      const response = request(`/apis/lab.example/v1/things${query}`);
      await requested.promise;
      await clock.advance(limitMs - 1);
      expect(clock.sleeperCount).to.equal(1);
      await clock.advance(1);
      const { status, headers } = await response;
      expect(status).to.equal(504);
      expect(headers['content-type']).to.equal('application/json');
    });
  }

  it('is over when the client has left', async () => {
    const leaving = new AbortController();
    const url = `https://127.0.0.1:${server.address.port}/apis/lab.example/v1/things`;
    const gone = requestHttps(url, { rejectUnauthorized: false, signal: leaving.signal }).catch(() => {});
    await requested.promise;
    await until(clock, () => clock.sleeperCount === 1);
    leaving.abort();
    await gone;
    await until(clock, () => clock.sleeperCount === 0);
  });

  it('leaves no timer behind', () => expect(clock.sleeperCount).to.equal(0));

  const errors: readonly [string, string][] = [
    ['xyz', 'time: invalid duration "xyz"'],
    ['5', 'time: missing unit in duration "5"'],
    ['5x', 'time: unknown unit "x" in duration "5x"'],
    ['1m-5s', 'time: unknown unit "m-" in duration "1m-5s"'],
    ['1m5', 'time: missing unit in duration "1m5"'],
    ['.s', 'time: invalid duration ".s"'],
    ['-', 'time: invalid duration "-"'],
  ];
  for (const [timeout, reason] of errors) {
    it(`refuses ${timeout} with the message of Go`, async () => {
      const response = await request(`/livez?timeout=${timeout}`);
      expect(response.status).to.equal(400);
      expect(jsonOf(response)).to.include({
        message: `invalid timeout specified in the request URL - ${reason}`,
      });
    });
  }
});
