import { expect } from 'chai';
import { parsePathRules } from '#lib/apiserver/access/authorizer.ts';
import { accessReviewSpec, delegatedAuthorizer } from '#lib/apiserver/access/delegated-authorizer.ts';
import { parseRequestInfo } from '#lib/apiserver/http/request-info.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import { recordReviews, unreachable } from '#spec/support/recorded-reviews.ts';

const NODES = '/apis/metrics.k8s.io/v1beta1/nodes';

describe('delegatedAuthorizer', () => {
  it('sends a review to the API server, and returns its decision', async () => {
    const { reviews, request } = setUp({ allowed: false, reason: 'because' });
    expect(await request(NODES)).to.deep.equal({ isAllowed: false, reason: 'because' });
    expect(reviews.requested).to.deep.equal([
      {
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: {
            resourceAttributes: {
              verb: 'list',
              group: 'metrics.k8s.io',
              version: 'v1beta1',
              resource: 'nodes',
            },
            user: 'alice',
            groups: ['system:authenticated'],
          },
        },
      },
    ]);
  });

  for (const status of [undefined, {}, { allowed: 'true' }, { allowed: true, denied: true }]) {
    it(`denies where the response is ${JSON.stringify(status)}`, async () => {
      expect((await setUp(status).request(NODES)).isAllowed).to.equal(false);
    });
  }

  it('caches decisions for the given time, and separately for each request', async () => {
    const { reviews, request } = setUp({ allowed: true });
    await request(NODES);
    await reviews.clock.advance(9_999);
    await request(NODES);
    expect(reviews.requested).to.have.length(1);
    await request('/metrics');
    await request(NODES, ['other']);
    expect(reviews.requested).to.have.length(3);
    await reviews.clock.advance(1);
    await request(NODES);
    expect(reviews.requested).to.have.length(4);
  });

  it('caches refusals for a separate time', async () => {
    const { reviews, request } = setUp({ allowed: false });
    await request(NODES);
    await reviews.clock.advance(4_999);
    await request(NODES);
    expect(reviews.requested).to.have.length(1);
    await reviews.clock.advance(1);
    await request(NODES);
    expect(reviews.requested).to.have.length(2);
  });

  it('does not cache very long requests', async () => {
    const { reviews, request } = setUp({ allowed: true });
    const path = `/${'x'.repeat(10_000)}`;
    await request(path);
    await request(path);
    expect(reviews.requested).to.have.length(2);
  });

  it('caches decisions up to the maximum length of paths, resources and selectors', async () => {
    const others = `${NODES}/metrics.k8s.iov1beta1nodes`.length; // a name counts in the path and by itself
    for (const [path, requested] of [
      [`/${'x'.repeat(10_000 - '/get'.length)}`, 1],
      [`/${'x'.repeat(10_001 - '/get'.length)}`, 2],
      [`${NODES}/${'n'.repeat(Math.floor((10_000 - others) / 2))}`, 1],
      [`${NODES}/${'n'.repeat(Math.floor((10_000 - others) / 2) + 1)}`, 2],
    ] as const) {
      const { reviews, request } = setUp({ allowed: true });
      await request(path);
      await request(path);
      expect(reviews.requested, path.slice(0, 40)).to.have.length(requested);
    }
    const { reviews, request } = setUp(undefined);
    reviews.response = (review) => ({ allowed: JSON.stringify(review).includes('Selector') });
    const selecting = `${NODES}?labelSelector=a&fieldSelector=metadata.namespace%3D${'n'.repeat(10_000)}`;
    await request(selecting);
    await request(selecting);
    expect(reviews.requested).to.have.length(3); // all objects once, and the selection each time
  });

  it('counts both selectors of a request together', async () => {
    const { reviews, request } = setUp(undefined);
    reviews.response = (review) => ({ allowed: JSON.stringify(review).includes('Selector') });
    const [name, value] = ['a'.repeat(5_000), 'n'.repeat(5_000)];
    for (let time = 0; time < 2; time++)
      await request(`${NODES}?labelSelector=${name}&fieldSelector=metadata.namespace%3D${value}`);
    expect(reviews.requested).to.have.length(3);
  });

  it('sends reviews on behalf of the user, with one flow for each user', async () => {
    const { reviews, request } = setUp({ allowed: true });
    const parties: string[] = [];
    const review = reviews.client.review.bind(reviews.client);
    reviews.client.review = (path, body, options) => {
      parties.push(options.flow);
      return review(path, body, options);
    };
    await request(NODES);
    expect(parties).to.deep.equal(['alice']);
  });

  it('passes on a refusal that is already one to the client', async () => {
    const { reviews, request } = setUp({ allowed: true });
    const refusal = new StatusError(504, 'Timeout', 'Timeout: the time is up', { details: {} });
    reviews.client.review = () => Promise.reject(refusal);
    expect(await request(NODES).catch((error: unknown) => error)).to.equal(refusal);
  });

  it('returns no reason where it is absent or not a string', async () => {
    for (const reason of ['', undefined, 7])
      expect(await setUp({ allowed: false, reason }).request(NODES)).to.deep.equal({ isAllowed: false });
  });

  it('allows administrators and the always allowed paths without a review', async () => {
    const { reviews, request } = setUp({ allowed: false });
    expect(await request(NODES, ['a', 'system:masters'])).to.deep.equal({ isAllowed: true });
    expect(await request('/healthz')).to.deep.equal({ isAllowed: true });
    expect(await request('/debug/any')).to.deep.equal({ isAllowed: true });
    expect(reviews.requested).to.have.length(0);
    expect((await request('/healthz/ping')).isAllowed).to.equal(false);
    expect((await request('/debug')).isAllowed).to.equal(false);
  });

  it('reviews a selection only after listing everything was denied', async () => {
    const { reviews, request } = setUp({ allowed: true });
    for (const selector of ['app%3Da', 'app%3Db', 'app%3Dc'])
      await request(`${NODES}?labelSelector=${selector}`);
    await request(NODES);
    expect(reviews.requested).to.have.length(1);
    expect(JSON.stringify(reviews.requested)).not.to.include('Selector');
  });

  it('allows a selection to a user who may do no more, and denies another one', async () => {
    const { reviews, request } = setUp(undefined);
    const isAllowed = (selector: string) => selector.includes('"values":["a"]');
    reviews.response = (review) => ({ allowed: isAllowed(JSON.stringify(review)) });
    expect((await request(`${NODES}?labelSelector=app%3Da`)).isAllowed).to.equal(true);
    expect((await request(`${NODES}?labelSelector=app%3Db`)).isAllowed).to.equal(false);
    expect((await request(NODES)).isAllowed).to.equal(false);
    expect(reviews.requested).to.have.length(3); // all objects, and each selection
  });

  it('uses a cached decision about a selection, although that about everything has expired and the API server is unavailable', async () => {
    const { reviews, request } = setUp(undefined);
    reviews.response = (review) => ({ allowed: JSON.stringify(review).includes('Selector') });
    expect((await request(`${NODES}?labelSelector=app%3Da`)).isAllowed).to.equal(true);
    reviews.response = unreachable;
    await reviews.clock.advance(5_000);
    expect((await request(`${NODES}?labelSelector=app%3Da`)).isAllowed).to.equal(true);
  });

  it('throws when the API server is unavailable and the last decision has expired', async () => {
    const { reviews, request } = setUp({ allowed: true });
    await request(NODES);
    reviews.response = unreachable;
    expect((await request(NODES)).isAllowed).to.equal(true);
    await reviews.clock.advance(10_000);
    const failure = await request(NODES).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(StatusError).and.deep.include({
      code: 500,
      reason: 'InternalError',
      details: {},
      message: 'Internal error occurred: cannot get an authorization decision from the API server',
    });
    expect(await request('/healthz')).to.deep.equal({ isAllowed: true });
    expect(await request(NODES, ['system:masters'])).to.deep.equal({ isAllowed: true });
    reviews.response = () => ({ allowed: true });
    expect((await request(NODES)).isAllowed).to.equal(true);
  });
});

function setUp(status: unknown) {
  const reviews = recordReviews(() => status);
  const authorizer = delegatedAuthorizer({
    client: reviews.client,
    clock: reviews.clock,
    alwaysAllowed: parsePathRules(['/healthz', 'debug/*']),
    authorizedTtlMs: 10_000,
    unauthorizedTtlMs: 5_000,
  });
  const request = async (path: string, groups: readonly string[] = ['system:authenticated']) =>
    await authorizer({
      user: { name: 'alice', uid: '', groups, extra: {} },
      info: parseRequestInfo('GET', path.split('?')[0] ?? '', new URLSearchParams(path.split('?')[1])),
    });
  return { reviews, request };
}

describe('accessReviewSpec', () => {
  it('contains all attributes of a resource request, without empty ones', () => {
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

  it('contains path and verb of other requests', () => {
    expect(specOf('POST', '/metrics')).to.deep.equal({
      user: 'alice',
      nonResourceAttributes: { path: '/metrics', verb: 'post' },
    });
  });

  it('contains all attributes of the user', () => {
    const info = parseRequestInfo('GET', '/metrics', new URLSearchParams());
    const user = { name: 'alice', uid: '7', groups: ['a', 'b'], extra: { ['__proto__']: ['x'] } };
    expect(JSON.stringify(accessReviewSpec({ user, info }))).to.equal(
      '{"nonResourceAttributes":{"path":"/metrics","verb":"get"},"user":"alice","uid":"7","groups":["a","b"],"extra":{"__proto__":["x"]}}',
    );
  });

  it('contains the selectors', () => {
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

  it('contains field requirements for equality as In, and no requirements of an invalid selector', () => {
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
