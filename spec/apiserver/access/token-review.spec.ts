import { expect } from 'chai';
import { tokenReviewer } from '#lib/apiserver/access/bearer-token.ts';
import { recordReviews, unreachable } from '#spec/support/recorded-reviews.ts';

const ALICE = {
  authenticated: true,
  user: { username: 'alice', uid: '7', groups: ['a'], extra: JSON.parse('{"__proto__":["x"]}') },
};

describe('tokenReviewer', () => {
  it('returns the user of a token, whatever the keys of its extra values', async () => {
    const { reviews, review } = setUp(ALICE);
    const user = await review('secret', {});
    expect(user).to.include({ name: 'alice', uid: '7' });
    expect(user?.groups).to.deep.equal(['a']);
    expect(JSON.stringify(user?.extra)).to.equal('{"__proto__":["x"]}');
    expect(reviews.requested).to.deep.equal([
      {
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'secret' } },
      },
    ]);
  });

  it('omits values of the response that are not strings', async () => {
    const user = { username: 'bob', uid: 7, groups: ['a', 7, null], extra: { scopes: ['x', 7], odd: 'y' } };
    expect(await setUp({ authenticated: true, user }).review('secret', {})).to.deep.equal({
      ...{ name: 'bob', uid: '', groups: ['a'], extra: { scopes: ['x'], odd: [] } },
    });
    const bare = { authenticated: true, user: { username: 'bob', groups: 'a', extra: 'b' } };
    expect(await setUp(bare).review('secret', {})).to.deep.equal({
      ...{ name: 'bob', uid: '', groups: [], extra: {} },
    });
  });

  for (const status of [
    { user: {}, error: 'invalid bearer token' },
    { authenticated: false, user: ALICE.user },
    { authenticated: true },
    { authenticated: 'true', user: ALICE.user },
    undefined,
  ]) {
    it(`rejects a response of ${JSON.stringify(status)}`, async () => {
      expect(await setUp(status).review('secret', {})).to.equal(undefined);
    });
  }

  it('caches the user of a token, and for a second that a token is invalid', async () => {
    const { reviews, review } = setUp(ALICE);
    await review('good', {});
    reviews.response = () => ({ authenticated: false });
    await review('bad', {});
    await reviews.clock.advance(999);
    await review('bad', {});
    expect(reviews.requested).to.have.length(2);
    await reviews.clock.advance(1);
    await review('bad', {});
    expect(reviews.requested).to.have.length(3);
    await reviews.clock.advance(8_999);
    expect(await review('good', {})).to.include({ name: 'alice' });
    await reviews.clock.advance(1);
    expect(await review('good', {})).to.equal(undefined);
  });

  it('throws when the API server is unavailable, without quoting the token', async () => {
    const { reviews, review } = setUp(ALICE);
    reviews.response = unreachable;
    const failure = await review('top-secret', {}).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(failure).to.be.instanceOf(Error);
    expect(`${failure?.stack} ${JSON.stringify(reviews.logger.lines)}`).not.to.include('top-secret');
  });

  it('does not bother the API server with a token that is too long', async () => {
    const { reviews, review } = setUp(ALICE);
    expect(await review('x'.repeat(64 * 1024 + 1), {})).to.equal(undefined);
    expect(reviews.requested).to.have.length(0);
  });
});

function setUp(status: unknown) {
  const reviews = recordReviews(() => status);
  const { client, clock } = reviews;
  return { reviews, review: tokenReviewer({ client, clock, cacheTtlMs: 10_000 }) };
}
