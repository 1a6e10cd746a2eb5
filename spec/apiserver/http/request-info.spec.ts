import { expect } from 'chai';
import { parseQuery } from '#lib/apiserver/http/query-values.ts';
import { parseRequestInfo, splitPath } from '#lib/apiserver/http/request-info.ts';
import { costOf } from '#spec/reliability/foreign-text/growth.ts';

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
    it(`takes ${request} for ${expected}`, () => {
      const info = infoOf(request);
      if (!info.isResourceRequest) throw new Error('no resource');
      const { verb, resource, subresource, name, namespace } = info;
      const what = subresource === '' ? resource : `${resource}/${subresource}`;
      const parts = [verb, what, ...(name ? [name] : []), ...(namespace ? ['in', namespace] : [])];
      expect(parts.join(' ')).to.equal(expected);
    });
  }

  it('tells group and version', () => {
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
    it(`takes ${request} for a path that is no resource's`, () => {
      const path = request.split(' ')[1];
      expect(infoOf(request)).to.deep.equal({ isResourceRequest: false, path, verb });
    });
  }
});

describe('splitPath', () => {
  it('counts slashes at the ends for nothing, and keeps what is empty between two', () => {
    expect(splitPath('/')).to.deep.equal([]);
    expect(splitPath('//a/b//')).to.deep.equal(['a', 'b']);
    expect(splitPath('/a//b')).to.deep.equal(['a', '', 'b']);
  });

  it('is not held up by half a million slashes, which a URL may have', async () => {
    const path = `/a${'/'.repeat(500_000)}b`;
    expect(splitPath(path)).to.have.length(500_001);
    expect(await costOf(() => splitPath(path))).to.be.below(1_000); // it was minutes
  });
});

function infoOf(request: string) {
  const [method = '', target = ''] = request.split(' ');
  const [path = '', query = ''] = target.split('?');
  return parseRequestInfo(method, path, parseQuery(query));
}
