import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { acceptsGzip } from '#lib/apiserver/middleware/deliver-response.ts';
import { type ApiResponse, requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { Thing, thingsResource } from '#spec/support/served-things.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

describe('finishBody', () => {
  let server: ApiServer;
  let things: readonly Thing[] = [];
  before(async () => {
    const resources = [thingsResource(() => [things])];
    server = await startTestApiServer({
      groups: [{ name: 'lab.example', versions: [{ version: 'v1', resources: () => resources }] }],
      registry: new Registry(),
    });
  });
  after(() => server[Symbol.asyncDispose]());
  const list = (encoding?: string, request = requestHttp1): Promise<ApiResponse> =>
    request({
      port: server.address.port,
      path: '/apis/lab.example/v1/things',
      headers: encoding === undefined ? {} : { 'accept-encoding': encoding },
    });

  for (const [what, count] of [
    ['long', 3_000],
    ['very long', 20_000],
  ] as const) {
    it(`compresses ${what} responses for clients that accept that, over HTTP/1.1 and HTTP/2`, async () => {
      things = Array.from({ length: count }, (_, index) => new Thing(`thing-${index}`));
      const plain = await list();
      expect(plain.headers).not.to.have.any.keys('content-encoding', 'vary');
      expect(plain.body.length).to.be.greaterThan(128 * 1024);
      expect(Number(plain.headers['content-length'])).to.equal(plain.body.length);
      for (const request of [requestHttp1, requestHttp2]) {
        const compressed = await list('gzip', request);
        expect(compressed.headers).to.include({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
        expect(compressed.body.length).to.be.lessThan(plain.body.length / 5);
        expect(gunzipSync(compressed.body).equals(plain.body)).to.equal(true);
      }
    });
  }

  it('understands what clients take', async () => {
    const taken = ['gzip', 'deflate, gzip;q=1.0', 'gzip; q=0.5'];
    const notTaken = ['', 'deflate', '*', 'gzip;q=0', 'gzip; q=0.0', 'xgzip'];
    for (const header of taken)
      expect((await list(header)).headers, header).to.include({ 'content-encoding': 'gzip' });
    for (const header of notTaken)
      expect((await list(header)).headers, header).not.to.have.property('content-encoding');
  });

  it('leaves short responses as they are', async () => {
    things = [new Thing('a')];
    expect((await list('gzip')).headers).not.to.have.property('content-encoding');
  });

  it('compresses the metrics, however short, as Prometheus requests them', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const response = await requestHttp1({ port: server.address.port, path: '/metrics', headers });
    expect(response.headers).to.include({ 'content-encoding': 'gzip' });
  });
});

describe('acceptsGzip', () => {
  const cases: readonly [string, boolean][] = [
    ['', false],
    ['gzip', true],
    ['deflate, gzip;q=1.0, *;q=0.5', true],
    ['gzip;q=0.001', true],
    ['gzip ; q = 0.5', true],
    ['br, \tgzip', true],
    ['gzip;q=0', false],
    ['gzip;q=0.000', false],
    ['gzip;q= 0', false],
    ['gzip ; q = 0 ', false],
    ['*', false],
    ['xgzip, gzipx', false],
    ['deflate;q=gzip', false],
  ];
  for (const [header, isTaken] of cases) {
    it(`is ${isTaken} for "${header}"`, () => {
      expect(acceptsGzip(header)).to.equal(isTaken);
    });
  }
});
