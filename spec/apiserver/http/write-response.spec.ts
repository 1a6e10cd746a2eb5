import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { canConsume, canProduce, isPrettyRequested } from '#lib/apiserver/http/write-response.ts';
import { type ApiResponse, requestHttp1 } from '#spec/support/api-request.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

describe('wantsPretty', () => {
  const cases: readonly [string, string, boolean][] = [
    ['', 'kubectl/v1.34.2', false],
    ['', '', false],
    ['', 'curl/7.88.1', true],
    ['', 'Wget/1.21', true],
    ['', 'Mozilla/5.0 (X11)', true],
    ['pretty=true', 'kubectl/v1.34.2', true],
    ['limit=1&pretty=1', 'kubectl/v1.34.2', true],
    ['pretty=false', 'curl/7.88.1', false],
    ['pretty=yes', 'curl/7.88.1', false],
    ['pretty', 'curl/7.88.1', true],
    ['prettyplease=0', 'curl/7.88.1', true],
  ];
  for (const [query, agent, isWanted] of cases) {
    it(`is ${isWanted} for ?${query} of ${agent || 'an unnamed agent'}`, () => {
      expect(isPrettyRequested(new URLSearchParams(query), agent)).to.equal(isWanted);
    });
  }
});

const TYPES = ['application/json', 'application/yaml'];

describe('canProduce', () => {
  it('accepts any mention of a produced type, whatever its quality and parameters', () => {
    expect(canProduce('text/html, application/yaml;q=0;as=Table', TYPES)).to.equal(true);
    expect(canProduce('', TYPES)).to.equal(true);
    expect(canProduce('*/*;q=0.1', TYPES)).to.equal(true);
  });

  it('does not know half wildcards', () => {
    expect(canProduce('application/*', TYPES)).to.equal(false);
    expect(canProduce('text/html', TYPES)).to.equal(false);
  });
});

describe('canConsume', () => {
  it('accepts requests without a body, and consumed types', () => {
    expect(canConsume('', TYPES)).to.equal(true);
    expect(canConsume('application/json; charset=utf-8', TYPES)).to.equal(true);
    expect(canConsume('text/html', TYPES)).to.equal(false);
    expect(canConsume('text/html', ['*/*'])).to.equal(true);
    expect(canConsume('*/*', TYPES)).to.equal(false);
  });
});

describe('serveContent', () => {
  let server: ApiServer;
  before(async () => {
    server = await startTestApiServer();
  });
  after(() => server[Symbol.asyncDispose]());
  const request = (headers: Record<string, string> = {}, path = '/openapi/v3'): Promise<ApiResponse> =>
    requestHttp1({ port: server.address.port, path, headers });

  it('responds without a body to clients that have the content, by hash or by date', async () => {
    const { headers, status } = await request();
    expect(status).to.equal(200);
    const retained = [
      { 'If-None-Match': String(headers.etag) },
      { 'If-None-Match': `"other", W/${headers.etag}` },
      { 'If-None-Match': '*' },
      { 'If-Modified-Since': String(headers['last-modified']) },
    ];
    for (const condition of retained) {
      const response = await request(condition);
      expect(response.status, JSON.stringify(condition)).to.equal(304);
      expect(response.headers.etag).to.equal(headers.etag);
      expect(response.body).to.have.length(0);
    }
    expect((await request({ 'If-None-Match': '"other"' })).status).to.equal(200);
  });

  it('responds with the requested range', async () => {
    const { body } = await request();
    const parts: readonly [string, Buffer][] = [
      ['bytes=0-4', body.subarray(0, 5)],
      ['bytes=5-', body.subarray(5)],
      ['bytes=-3', body.subarray(-3)],
      [`bytes=3-${body.length + 10}`, body.subarray(3)],
    ];
    for (const [range, part] of parts) {
      const response = await request({ Range: range });
      expect(response.status, range).to.equal(206);
      expect(response.body.toString()).to.equal(part.toString());
    }
    expect((await request({ Range: 'bytes=1-2' })).headers['content-range']).to.equal(
      `bytes 1-2/${body.length}`,
    );
    expect((await request({ Range: `bytes=${body.length}-` })).status).to.equal(416);
    expect((await request({ Range: 'bytes=0-1,3-4' })).body).to.have.length(body.length);
  });

  it('redirects from a wrong hash to the current one, and marks the current one as cacheable', async () => {
    const { headers } = await request({}, '/openapi/v3/version');
    const hash = JSON.parse(String(headers.etag));
    const wrong = await request({}, '/openapi/v3/version?hash=ABC');
    expect([wrong.status, wrong.body.length]).to.deep.equal([301, 0]);
    expect(wrong.headers).to.include({
      location: `/openapi/v3/version?hash=${hash}`,
      etag: `"${hash}"`,
      'content-type': 'application/json',
    });
    const right = await request({}, `/openapi/v3/version?hash=${hash}`);
    expect(right.headers['cache-control']).to.equal('public, immutable');
  });
});
