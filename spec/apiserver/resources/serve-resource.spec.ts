import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import type { DocumentQuery, ListedObjects } from '#lib/apiserver/resources/api-group.ts';
import { serveDocument } from '#lib/apiserver/resources/serve-resource.ts';
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

  it('returns one object, or 404', async () => {
    expect(jsonOf(await get('a'))).to.include({ kind: 'Thing', size: 1 });
    expect((await get('b')).status).to.equal(404);
  });

  it('refuses to export, as Kubernetes does since v1.14, unless the parameter is false', async () => {
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

describe('serveDocument', () => {
  it('reads the selectors of a URL once for all of its requests, and those of another for themselves', () => {
    const observed: DocumentQuery[] = [];
    const refusal = new Error('nothing is served here');
    const request = (query: URLSearchParams) => {
      const read = (requested: DocumentQuery) => {
        observed.push(requested);
        throw refusal;
      };
      expect(() => serveDocument({ state: { query } } as unknown as ApiContext, { read })).to.throw(refusal);
    };
    const query = new URLSearchParams({ labelSelector: 'app=web' });
    request(query);
    request(query);
    request(new URLSearchParams({ labelSelector: 'app=shop' }));
    const [first, again, other] = observed;
    expect(again?.labelSelector).to.equal(first?.labelSelector);
    expect(first?.labelSelector.matches({ app: 'web' })).to.equal(true);
    expect(other?.labelSelector.matches({ app: 'shop' })).to.equal(true);
    expect(other?.labelSelector.matches({ app: 'web' })).to.equal(false);
  });
});

describe('serveList', () => {
  let server: ApiServer;
  before(async () => {
    const resources = [thingsResource(() => [])];
    const versions = [{ version: 'v1', resources: () => resources }];
    server = await startTestApiServer({ groups: [{ name: 'lab.example', versions }] });
  });
  after(() => server[Symbol.asyncDispose]());

  const unknownKind = { accept: 'application/json;as=Foo;v=v1;g=meta.k8s.io' };
  const refusals: readonly [string, string, number][] = [
    ['options that cannot be read', 'labelSelector=a===&resourceVersionMatch=Exact&watch=1', 400],
    ['options that do not go together', 'resourceVersionMatch=Exact', 422],
    ['the Accept header', 'watch=1', 406],
  ];
  for (const [what, query, status] of refusals) {
    it(`rejects ${what} before any other fault, with ${status}`, async () => {
      expect((await send(query, unknownKind)).status).to.equal(status);
    });
  }

  it('refuses a watch of a resource without watches, whatever its timeout', async () => {
    const response = await send('watch=1&timeout=xyz');
    expect(response.status).to.equal(405);
    expect(jsonOf(response)).to.include({
      message: 'watch is not supported on resources of kind "things.lab.example"',
    });
  });

  it('looks up a name that no object can have, instead of returning everything', async () => {
    expect((await send('labelSelector=a%3D%ff')).status).to.equal(400);
  });

  for (const [kind, selector, namespaces] of [
    ['label', `labelSelector=${numbered('app!=v')},zone`, 1],
    ['field', `fieldSelector=${numbered('metadata.name!=v')},metadata.namespace=none`, 500],
  ] as const) {
    const what = `${namespaces} namespaces are tried by a ${kind} selector of 500 requirements`;
    it(`yields to other work while 5,000 objects of ${what}`, async () => {
      let [sinceTurn, maxInTurn, isOver] = [0, 0, false];
      const count = <T>(value: T) => {
        maxInTurn = Math.max(maxInTurn, ++sinceTurn);
        return value;
      };
      const things = Array.from({ length: 5_000 }, (_, index) => {
        const { name, labels } = new Thing(`thing-${index}`, { labels: { app: `web-${index}` } });
        return Object.defineProperties(new Thing(name), {
          name: { get: () => (kind === 'field' ? count(name) : name) },
          labels: { get: () => (kind === 'label' ? count(labels) : labels) },
        });
      });
      const each = 5_000 / namespaces;
      const blocks = Array.from({ length: namespaces }, (_, index) =>
        things.slice(each * index, each * (index + 1)),
      );
      const resources = [thingsResource(() => blocks)];
      await using full = await startTestApiServer({
        groups: [{ name: 'lab.example', versions: [{ version: 'v1', resources: () => resources }] }],
      });
      const turn = () => {
        sinceTurn = 0;
        if (!isOver) setImmediate(turn);
      };
      turn();
      const path = `/apis/lab.example/v1/things?${selector}`;
      const response = await requestHttp1({ port: full.address.port, path });
      isOver = true;
      expect(jsonOf(response)).to.deep.include({ items: [] });
      expect(maxInTurn).to.be.within(1, 100);
    });
  }

  it('counts the objects after a page, unless selectors apply', async () => {
    const things = Array.from(
      { length: 5 },
      (_, index) => new Thing(`thing-${index}`, { labels: { a: 'b' } }),
    );
    const resources = [thingsResource(() => [things])];
    await using full = await startTestApiServer({
      groups: [{ name: 'lab.example', versions: [{ version: 'v1', resources: () => resources }] }],
    });
    const metadataOf = async (query: string) => {
      const path = `/apis/lab.example/v1/things?limit=2${query}`;
      return jsonOf<{ metadata: object }>(await requestHttp1({ port: full.address.port, path })).metadata;
    };
    expect(await metadataOf(''))
      .to.include({ remainingItemCount: 3 })
      .and.have.property('continue');
    for (const selector of ['labelSelector=a', 'fieldSelector=metadata.name!%3Dx']) {
      const metadata = await metadataOf(`&${selector}`);
      expect(metadata, selector).to.have.property('continue');
      expect(metadata, selector).not.to.have.property('remainingItemCount');
    }
  });

  it('reports lists that can be encoded ahead, and no pages', async () => {
    const things = Array.from({ length: 5 }, (_, index) => new Thing(`thing-${index}`));
    let listed = 0;
    const onListed = ({ body }: ListedObjects) => {
      listed++;
      return body;
    };
    const resources = [thingsResource(() => [things], { onListed })];
    await using full = await startTestApiServer({
      groups: [{ name: 'lab.example', versions: [{ version: 'v1', resources: () => resources }] }],
    });
    const list = async (query: string) => {
      const path = `/apis/lab.example/v1/things?${query}`;
      const { metadata, items } = jsonOf<{ metadata: { continue?: string }; items: object[] }>(
        await requestHttp1({ port: full.address.port, path }),
      );
      return { token: encodeURIComponent(metadata.continue ?? ''), count: items.length };
    };
    const { token } = await list('limit=1');
    expect(await list(`limit=4&continue=${token}`), 'the last page').to.deep.equal({ token: '', count: 4 });
    expect(listed).to.equal(0);
    for (const query of ['', 'limit=5']) await list(query);
    expect(listed).to.equal(2);
  });

  function send(query: string, headers = {}) {
    return requestHttp1({ port: server.address.port, path: `/apis/lab.example/v1/things?${query}`, headers });
  }
});

/** 499 requirements that every object meets. */
function numbered(requirement: string): string {
  return Array.from({ length: 499 }, (_, index) => `${requirement}${index}`).join(',');
}
