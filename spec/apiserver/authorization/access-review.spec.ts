import { expect } from 'chai';
import { accessReviewSpec } from '#lib/apiserver/authorization/access-review.ts';
import { parseRequestInfo } from '#lib/apiserver/http/request-info.ts';

describe('accessReviewSpec', () => {
  it('tells everything of a request for a resource, and nothing that is empty', () => {
    expect(specOf('GET', '/apis/metrics.k8s.io/v1beta1/namespaces/a/pods/b/log')).to.deep.equal({
      user: 'alice',
      resourceAttributes: {
        verb: 'get',
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        namespace: 'a',
        resource: 'pods',
        name: 'b',
        subresource: 'log',
      },
    });
    expect(specOf('DELETE', '/apis/metrics.k8s.io/v1beta1/nodes').resourceAttributes).to.deep.equal({
      verb: 'deletecollection',
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      resource: 'nodes',
    });
  });

  it('tells path and verb of any other request', () => {
    expect(specOf('POST', '/metrics')).to.deep.equal({
      user: 'alice',
      nonResourceAttributes: { path: '/metrics', verb: 'post' },
    });
  });

  it('tells everything that is known of the user', () => {
    const info = parseRequestInfo('GET', '/metrics', new URLSearchParams());
    const user = { name: 'alice', uid: '7', groups: ['a', 'b'], extra: { ['__proto__']: ['x'] } };
    expect(JSON.stringify(accessReviewSpec({ user, info }))).to.equal(
      '{"nonResourceAttributes":{"path":"/metrics","verb":"get"},"user":"alice","uid":"7","groups":["a","b"],"extra":{"__proto__":["x"]}}',
    );
  });

  it('tells which objects are selected', () => {
    const query =
      'labelSelector=a%3D1,b!%3D2,c+in+(3,4),d+notin+(5),e,!f,g>6&fieldSelector=metadata.name!%3Dx';
    const { resourceAttributes } = specOf('GET', `/apis/metrics.k8s.io/v1beta1/pods?${query}`);
    expect(resourceAttributes).to.deep.include({
      verb: 'list',
      fieldSelector: { requirements: [{ key: 'metadata.name', operator: 'NotIn', values: ['x'] }] },
      labelSelector: {
        requirements: [
          { key: 'a', operator: 'In', values: ['1'] },
          { key: 'b', operator: 'NotIn', values: ['2'] },
          { key: 'c', operator: 'In', values: ['3', '4'] },
          { key: 'd', operator: 'NotIn', values: ['5'] },
          { key: 'e', operator: 'Exists' },
          { key: 'f', operator: 'DoesNotExist' },
        ],
      },
    });
  });

  it('tells fields that are to be equal, as In, and nothing of a selector that cannot be read', () => {
    const requirementsOf = (query: string) =>
      (
        specOf('GET', `/apis/metrics.k8s.io/v1beta1/pods?${query}`).resourceAttributes as {
          fieldSelector?: unknown;
        }
      ).fieldSelector;
    for (const equals of ['%3D', '%3D%3D'])
      expect(requirementsOf(`fieldSelector=metadata.namespace${equals}x`)).to.deep.equal({
        requirements: [{ key: 'metadata.namespace', operator: 'In', values: ['x'] }],
      });
    expect(requirementsOf('fieldSelector=metadata.name')).to.equal(undefined);
  });

  it('passes over selectors that cannot be read, and those of requests for one object', () => {
    const pods = '/apis/metrics.k8s.io/v1beta1/namespaces/a/pods';
    expect(specOf('GET', `${pods}?labelSelector=a+in`).resourceAttributes).not.to.have.property(
      'labelSelector',
    );
    expect(specOf('GET', `${pods}/b?labelSelector=a`).resourceAttributes).not.to.have.property(
      'labelSelector',
    );
  });
});

function specOf(method: string, target: string) {
  const { pathname, searchParams } = new URL(target, 'https://server');
  const info = parseRequestInfo(method, pathname, searchParams);
  return accessReviewSpec({ user: { name: 'alice', uid: '', groups: [], extra: {} }, info });
}
