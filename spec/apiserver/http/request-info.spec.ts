import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { ANONYMOUS } from '#lib/apiserver/http/api-context.ts';
import { parseQuery } from '#lib/apiserver/http/query-values.ts';
import { parseRequestInfo, readSelectors, splitPath } from '#lib/apiserver/http/request-info.ts';
import { parseListOptions } from '#lib/apiserver/resources/list-options.ts';
import { SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';
import { growthOf } from '#spec/reliability/foreign-text/growth.ts';
import { jsonOf, requestHttp1 } from '#spec/support/api-request.ts';
import { thingsResource } from '#spec/support/served-things.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

const ROOT = '/apis/metrics.k8s.io/v1beta1';

describe('parseRequestInfo', () => {
  const resources: readonly [string, string][] = [
    [`GET ${ROOT}/nodes`, 'list nodes'],
    [`GET ${ROOT}/nodes/`, 'list nodes'],
    [`GET ${ROOT}/nodes/a`, 'get nodes a'],
    [`HEAD ${ROOT}/nodes/a`, 'get nodes a'],
    [`GET ${ROOT}/pods?watch=true`, 'watch pods'],
    [`GET ${ROOT}/pods?watch=0`, 'list pods'],
    [`GET ${ROOT}/pods/a?watch=true`, 'get pods a'],
    [`GET ${ROOT}/namespaces/n/pods`, 'list pods in n'],
    [`GET ${ROOT}/namespaces/n/pods/a`, 'get pods a in n'],
    [`GET ${ROOT}/namespaces/n/pods/a/requests`, 'get pods/requests a in n'],
    [`GET ${ROOT}/namespaces/n`, 'get namespaces n in n'],
    [`GET ${ROOT}/namespaces/n/status`, 'get namespaces/status n in n'],
    [`GET ${ROOT}/namespaces//pods`, 'list pods'],
    [`GET ${ROOT}/watch/nodes`, 'watch nodes'],
    [`GET ${ROOT}/watch/namespaces/n/pods/a`, 'watch pods a in n'],
    [`GET ${ROOT}/pods?fieldSelector=metadata.name%3Da`, 'list pods a'],
    [`GET ${ROOT}/pods?fieldSelector=metadata.name%3D..`, 'list pods'],
    [`GET ${ROOT}/pods?fieldSelector=metadata.name%3Da%2Fb`, 'list pods'],
    [`GET ${ROOT}/pods?fieldSelector=metadata.name!%3Da`, 'list pods'],
    [`GET ${ROOT}/pods?fieldSelector=nonsense`, 'list pods'],
    [`POST ${ROOT}/nodes`, 'create nodes'],
    [`PUT ${ROOT}/nodes/a`, 'update nodes a'],
    [`PATCH ${ROOT}/nodes/a`, 'patch nodes a'],
    [`DELETE ${ROOT}/nodes/a`, 'delete nodes a'],
    [`DELETE ${ROOT}/nodes`, 'deletecollection nodes'],
    [`FOO ${ROOT}/nodes`, ' nodes'],
    [`constructor ${ROOT}/nodes`, ' nodes'],
    [`__proto__ ${ROOT}/nodes`, ' nodes'],
    ['GET /api/v1/pods', 'list pods'],
  ];
  for (const [request, expected] of resources) {
    it(`parses ${request} as ${expected}`, () => {
      const info = infoOf(request);
      if (!info.isResourceRequest) throw new Error('no resource');
      const { verb, resource, subresource, name, namespace } = info;
      const what = subresource === '' ? resource : `${resource}/${subresource}`;
      const parts = [verb, what, ...(name ? [name] : []), ...(namespace ? ['in', namespace] : [])];
      expect(parts.join(' ')).to.equal(expected);
    });
  }

  it('returns group and version', () => {
    expect(infoOf(`GET ${ROOT}/nodes`)).to.include({ apiGroup: 'metrics.k8s.io', apiVersion: 'v1beta1' });
    expect(infoOf('GET /api/v1/pods')).to.include({ apiGroup: '', apiVersion: 'v1' });
  });

  const others: readonly [string, string][] = [
    ['GET /', 'get'],
    ['GET /apis', 'get'],
    [`GET ${ROOT}`, 'get'],
    ['GET /api/v1', 'get'],
    ['POST /healthz', 'post'],
    ['HEAD /metrics', 'head'],
    ['GET /apis//metrics.k8s.io', 'get'],
  ];
  for (const [request, verb] of others) {
    it(`parses ${request} as a non-resource path`, () => {
      const path = request.split(' ')[1];
      expect(infoOf(request)).to.deep.equal({ isResourceRequest: false, path, verb });
    });
  }
});

describe('splitPath', () => {
  it('ignores slashes at both ends, and preserves empty segments', () => {
    expect(splitPath('/')).to.deep.equal([]);
    expect(splitPath('//a/b//')).to.deep.equal(['a', 'b']);
    expect(splitPath('/a//b')).to.deep.equal(['a', '', 'b']);
  });

  it('parses half a million slashes, as a URL may have, in linear time', async () => {
    const pathOf = (slashes: number) => `/a${'/'.repeat(slashes)}b`;
    const long = pathOf(500_000);
    expect(splitPath(long)).to.have.length(500_001);
    expect(await growthOf(splitPath, { short: pathOf(7_800), long, parts: 64 })).to.include({
      isLinear: true,
    });
  });
});

function infoOf(request: string) {
  const [method = '', target = ''] = request.split(' ');
  const [path = '', query = ''] = target.split('?');
  return parseRequestInfo(method, path, parseQuery(query));
}

const THINGS = '/apis/lab.example/v1/things';
const KIB = 1024;

describe('readSelectors', () => {
  it('returns both, parsed and as text', () => {
    const { label, field } = selectorsOf({ labelSelector: 'a in (c,b)', fieldSelector: 'metadata.name=x' });
    expect(label.text).to.equal('a in (c,b)');
    expect(String(label.parsed)).to.equal('a in (b,c)');
    expect(String(field.parsed)).to.equal('metadata.name=x');
  });

  it('returns the error of an invalid one, for callers who may list', () => {
    expect(selectorsOf({ labelSelector: 'a in' }).label.parsed).to.be.instanceOf(SelectorError);
    expect(selectorsOf({ fieldSelector: 'a' }).field.parsed).to.be.instanceOf(SelectorError);
  });

  it('refuses one of more than 16 KiB, readable or not', () => {
    const [max, tooLong] = ['a'.repeat(16 * KIB), 'ä'.repeat(8 * KIB + 1)];
    for (const name of ['labelSelector', 'fieldSelector']) {
      expect(() => selectorsOf({ [name]: max })).not.to.throw();
      expect(() => selectorsOf({ [name]: tooLong })).to.throw(
        `invalid ${name}: must have at most 16384 bytes`,
      );
    }
  });

  it('refuses one of more than 500 requirements', () => {
    const [labels, fields] = [
      (n: number) => 'a,'.repeat(n - 1),
      (n: number) => 'metadata.name!=a,'.repeat(n),
    ];
    expect(() => selectorsOf({ labelSelector: `${labels(500)}a` })).not.to.throw();
    expect(() => selectorsOf({ labelSelector: `${labels(501)}a` })).to.throw(
      'invalid labelSelector: must have at most 500 requirements',
    );
    expect(() => selectorsOf({ fieldSelector: fields(500) })).not.to.throw();
    expect(() => selectorsOf({ fieldSelector: fields(501) })).to.throw('at most 500 requirements');
  });

  it('is done once for a request: authorization and list get the same', () => {
    const query = new URLSearchParams({ labelSelector: 'a', fieldSelector: 'metadata.name=x' });
    const info = parseRequestInfo('GET', THINGS, query);
    if (!info.isResourceRequest) throw new Error('no resource');
    const { labelSelector, fieldSelector } = parseListOptions(query, info.selectors);
    expect(labelSelector).to.equal(info.selectors.label.parsed);
    expect(fieldSelector).to.equal(info.selectors.field.parsed);
  });
});

describe('A request with a selector beyond its bounds', () => {
  let server: ApiServer;
  let requested: string[] = [];
  before(async () => {
    const things = thingsResource(() => []);
    server = await startTestApiServer({
      groups: [{ name: 'lab.example', versions: [{ version: 'v1', resources: () => [things] }] }],
      authenticator: async () => {
        requested.push('who');
        return ANONYMOUS;
      },
      authorizer: async () => {
        requested.push('what');
        return { isAllowed: true };
      },
    });
  });
  beforeEach(() => {
    requested = [];
  });
  after(() => server[Symbol.asyncDispose]());
  const list = (query: Readonly<Record<string, string>>) =>
    requestHttp1({ port: server.address.port, path: `${THINGS}?${new URLSearchParams(query)}` });

  for (const query of [
    { labelSelector: `a in (${'b,'.repeat(8 * KIB)}b)` },
    { labelSelector: 'a,'.repeat(600).slice(0, -1) },
    { fieldSelector: 'metadata.name!=a,'.repeat(501) },
    { fieldSelector: `metadata.name=${'a'.repeat(16 * KIB)}`, watch: '1' },
  ]) {
    const [[name = '', selector = ''] = []] = Object.entries(query);
    it(`responds with 400 before authentication: ${name} ${selector.slice(0, 16)}…`, async () => {
      const { status, body } = await list(query);
      expect(status).to.equal(400);
      expect(body.toString()).to.include(`invalid ${name}`);
      expect(body.length).to.be.below(500);
      expect(requested).to.deep.equal([]);
    });
  }

  it('is served within them', async () => {
    const response = await list({ labelSelector: `a in (${'b,'.repeat(4 * KIB)}b)` });
    expect(jsonOf(response).kind).to.equal('ThingList');
    expect(requested).to.deep.equal(['who', 'what']);
  });
});

function selectorsOf(query: Readonly<Record<string, string>>) {
  return readSelectors(new URLSearchParams(query));
}
