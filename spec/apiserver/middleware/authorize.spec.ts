import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { jsonOf, requestHttp1 } from '#spec/support/api-request.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

describe('authorize', () => {
  let server: ApiServer;
  before(async () => {
    server = await startTestApiServer({
      authenticator: async () => ({ name: '<i>&', uid: '', groups: [], extra: {} }),
      authorizer: async () => ({ isAllowed: false, reason: 'because' }),
    });
  });
  after(() => server[Symbol.asyncDispose]());

  it('states the denied action, escaped for browsers', async () => {
    const refused = await requestHttp1({ port: server.address.port, path: '/%3Cscript%3E&' });
    expect(refused.status).to.equal(403);
    expect(jsonOf(refused).message).to.equal(
      'forbidden: User "&lt;i&gt;&amp;" cannot get path "/&lt;script&gt;&amp;": because',
    );
    expect(refused.headers['x-content-type-options']).to.equal('nosniff');
  });
});
