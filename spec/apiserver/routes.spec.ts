import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import type { ServedResource } from '#lib/apiserver/resources/api-group.ts';
import { jsonOf, requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { thingsResource } from '#spec/support/served-things.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

const ROOT = '/apis/lab.example/v1';

describe('routes', () => {
  let server: ApiServer;
  /** The handler that the request reached. */
  let reached: string | undefined;

  const objects = (name: string, isNamespaced: boolean): ServedResource =>
    thingsResource(() => [], {
      name,
      isNamespaced,
      list: (namespace) => {
        reached = `list ${name} of ${namespace ?? 'all'}`;
        return [];
      },
      get: ({ namespace, name: object }) => {
        reached = `get ${name} ${namespace}/${object}`;
        return undefined;
      },
    });
  const resources = [objects('things', false), objects('pods', true)];

  before(async () => {
    server = await startTestApiServer({
      groups: [
        {
          name: 'lab.example',
          versions: [
            { version: 'v1', resources: () => resources },
            {
              version: 'v2',
              resources: () => [],
              route: (segments) => {
                reached = `route ${segments.join(' ')}`;
                return undefined;
              },
            },
          ],
        },
      ],
      endpoints: new Map([
        ['/page', (context) => context.set('X-Reached', context.state.info.path)],
        ['/pages/', (context) => context.set('X-Reached', context.state.info.path)],
        ['/debug/b', (context) => context.set('X-Reached', context.state.info.path)],
        ['/debug/a', (context) => context.set('X-Reached', context.state.info.path)],
      ]),
    });
  });
  after(() => server[Symbol.asyncDispose]());
  beforeEach(() => {
    reached = undefined;
  });
  const request = (path: string, method = 'GET') => requestHttp1({ port: server.address.port, path, method });

  const led: readonly [string, string | undefined][] = [
    ['things', 'list things of all'],
    ['things/', 'list things of all'],
    ['things///', 'list things of all'],
    ['%74hings', 'list things of all'],
    ['things/a', 'get things /a'],
    ['things/a/', 'get things /a'],
    ['things/%2541', 'get things /%41'],
    ['things/%C3%A4%20%3F', 'get things /ä ?'],
    ['things/%FF', 'get things /\uFFFD'],
    ['pods', 'list pods of all'],
    ['namespaces/n/pods', 'list pods of n'],
    ['namespaces/n/pods/a', 'get pods n/a'],
    ['namespaces/n%2Fpods/a', 'get pods n/a'],
    ['namespaces/n/pods/*', 'get pods n/*'],
    ['namespaces//pods', 'list pods of all'],
    ['Things', undefined],
    ['none', undefined],
    ['things/a/b', undefined],
    ['things//b', undefined],
    ['pods/a', undefined],
    ['pods/a/requests', undefined],
    ['namespaces', undefined],
    ['namespaces/n', undefined],
    ['namespaces/n/things', undefined],
    ['namespaces/n/things/a', undefined],
    ['namespaces/n/pods/a/requests', undefined],
    ['nodes', undefined],
  ];
  for (const [path, target] of led) {
    it(`lead ${path} to ${target ?? 'nothing'}`, async () => {
      await request(`${ROOT}/${path}`);
      reached = undefined;
      const { status, body } = await request(`${ROOT}/${path}`); // as it did before
      expect(reached).to.equal(target);
      if (target?.startsWith('list')) expect(status).to.equal(200);
      else expect(status).to.equal(404);
      if (target === undefined)
        expect(body.toString()).to.contain('the server could not find the requested resource');
    });
  }

  it('let a version that leads paths itself do so, with the segments as they are', async () => {
    await request('/apis/lab.example/v2/namespaces/n/pods/%2A/a%2Fb');
    expect(reached).to.equal('route namespaces n pods * a b');
  });

  it('respond for the group where it has nothing, and with the paths that there are elsewhere', async () => {
    for (const path of ['/apis/lab.example/v3', '/apis/lab.example/v3/things', '/version/x'])
      expect(jsonOf(await request(path))).to.include({ kind: 'Status', code: 404 });
    for (const path of ['/apis/none', '/apis/none/v1', '/APIS', '/apis/lab.examples', '/page/', '/page/a'])
      expect(jsonOf(await request(path)))
        .to.have.property('paths')
        .that.includes.members(['/apis/lab.example/v1', '/page']);
    expect((await request('/')).status).to.equal(200);
    expect((await request('/none')).status).to.equal(404);
  });

  it('list what there is to debug at /debug/', async () => {
    for (const path of ['/debug/', '/debug']) {
      const response = await request(path);
      expect(response.status).to.equal(200);
      expect(jsonOf(response)).to.deep.equal({ paths: ['/debug/a', '/debug/b'] });
    }
    expect((await request('/debug/none')).status).to.equal(404);
    await using empty = await startTestApiServer();
    expect((await requestHttp1({ port: empty.address.port, path: '/debug/' })).status).to.equal(404);
  });

  it('refuse every other method before they look at anything else, in groups alone', async () => {
    for (const method of ['POST', 'HEAD', 'OPTIONS', 'PROPFIND']) {
      for (const path of ['/apis', '/version', '/apis/lab.example', ROOT, `${ROOT}/things`])
        expect((await request(path, method)).status, `${method} ${path}`).to.equal(405);
    }
    expect((await request(`${ROOT}/none`, 'POST')).status).to.equal(404);
    for (const path of [`${ROOT}/things`, '/page']) {
      const invented = { port: server.address.port, path, method: 'INVENT' };
      expect((await requestHttp2(invented)).status, path).to.equal(405);
    }
  });

  it('lead all below a path that ends with a slash to one endpoint', async () => {
    for (const path of ['/page', '/pages/', '/pages/a', '/pages/a/b/', '/pages//%41'])
      expect((await request(path, 'POST')).headers['x-reached']).to.equal(decodeURIComponent(path));
  });
});
