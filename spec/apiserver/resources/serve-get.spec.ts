import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { jsonOf, requestHttp1 } from '#spec/support/api-request.ts';
import { Thing, thingsResource } from '#spec/support/served-things.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

describe('serveGet', () => {
  let server: ApiServer;
  before(async () => {
    const resources = [thingsResource(() => [[new Thing('a')]])];
    server = await startTestApiServer({
      groups: [{ name: 'lab.example', versions: [{ version: 'v1', resources: () => resources }] }],
    });
  });
  after(() => server[Symbol.asyncDispose]());
  const get = (path: string) =>
    requestHttp1({ port: server.address.port, path: `/apis/lab.example/v1/things/${path}` });

  it('gives one object, or says that there is none', async () => {
    expect(jsonOf(await get('a'))).to.include({ kind: 'Thing', size: 1 });
    expect((await get('b')).status).to.equal(404);
  });

  it('refuses to export, as Kubernetes does since v1.14, unless that is said to be unwanted', async () => {
    for (const query of ['export', 'export=true', 'export=1', 'export=']) {
      const refused = await get(`a?${query}`);
      expect(refused.status, query).to.equal(400);
      expect(jsonOf(refused).message).to.equal(
        'the export parameter, deprecated since v1.14, is no longer supported',
      );
    }
    for (const query of ['export=false', 'export=0', 'exported=1']) {
      expect((await get(`a?${query}`)).status, query).to.equal(200);
    }
  });
});
