import { expect } from 'chai';
import { requestTarget, verbOf } from '#simulator/api-server/api-request.ts';

describe('requestTarget', () => {
  for (const [path, expected] of [
    ['/api/v1/nodes', { group: '', version: 'v1', resource: 'nodes' }],
    ['/api/v1/nodes/a/status', { resource: 'nodes', name: 'a', subresource: 'status' }],
    ['/api/v1/namespaces/x/pods', { resource: 'pods', namespace: 'x' }],
    ['/api/v1/namespaces/x/pods/p', { resource: 'pods', namespace: 'x', name: 'p' }],
    ['/api/v1/namespaces', { resource: 'namespaces' }],
    ['/api/v1/namespaces/x', { resource: 'namespaces', name: 'x' }],
    ['/api/v1/namespaces/x/finalize', { resource: 'namespaces', name: 'x', subresource: 'finalize' }],
    ['/apis/metrics.k8s.io/v1beta1/pods', { group: 'metrics.k8s.io', version: 'v1beta1', resource: 'pods' }],
    ['/api/v1/namespaces/x%2Fy/pods', { namespace: 'x/y' }],
    ['/api/v1/nodes/%zz', { name: '%zz' }],
  ] as const) {
    it(`reads ${path}`, () => {
      expect(requestTarget(path)).to.include({ isResource: true, ...expected });
    });
  }

  for (const path of [
    '/',
    '/api',
    '/api/v1',
    '/apis',
    '/apis/apps',
    '/apis/apps/v1',
    '/version',
    '/healthz/a',
  ]) {
    it(`finds no resource in ${path}`, () => {
      expect(requestTarget(path)).to.deep.equal({ isResource: false, path });
    });
  }
});

describe('verbOf', () => {
  const verb = (method: string, path: string, query = '') =>
    verbOf(method, requestTarget(path), new URLSearchParams(query));

  it('distinguishes get, list and watch', () => {
    expect(verb('GET', '/api/v1/nodes/a')).to.equal('get');
    expect(verb('GET', '/api/v1/nodes')).to.equal('list');
    expect(verb('GET', '/api/v1/nodes', 'watch=true')).to.equal('watch');
    expect(verb('GET', '/api/v1/nodes', 'watch=false')).to.equal('list');
  });

  it('distinguishes delete and deletecollection', () => {
    expect(verb('DELETE', '/api/v1/nodes/a')).to.equal('delete');
    expect(verb('DELETE', '/api/v1/nodes')).to.equal('deletecollection');
  });

  it('is the method itself without a resource', () => {
    expect(verb('POST', '/version')).to.equal('post');
  });
});
