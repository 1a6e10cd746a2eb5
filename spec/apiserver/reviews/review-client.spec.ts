import { expect } from 'chai';
import { connectionLost, recordReviews, refusing, unreachable } from '#spec/support/recorded-reviews.ts';

describe('ReviewClient', () => {
  it('asks again at once when a kept connection was closed', async () => {
    const reviews = recordReviews(connectionLost);
    const answer = reviews.client.review('/reviews', {});
    reviews.answer = () => 'fine';
    expect(await answer).to.deep.equal({ status: 'fine' });
    expect(reviews.asked).to.have.length(2);
  });

  for (const statusCode of [429, 500, 504]) {
    it(`asks again, later and later, after status ${statusCode}`, async () => {
      const reviews = recordReviews(refusing(statusCode));
      const answer = reviews.client.review('/reviews', {});
      await reviews.clock.advance(249);
      expect(reviews.asked).to.have.length(1);
      await reviews.clock.advance(1);
      expect(reviews.asked).to.have.length(2);
      reviews.answer = () => 'fine';
      await reviews.clock.advance(500);
      expect(await answer).to.deep.equal({ status: 'fine' });
    });
  }

  it('gives up after five attempts', async () => {
    const reviews = recordReviews(refusing(500));
    const outcome = reviews.client.review('/reviews', {}).then(
      () => 'answered',
      (error: Error) => error.message,
    );
    await reviews.clock.advance(10_000);
    expect(await outcome).to.equal('refused (status 500)');
    expect(reviews.asked).to.have.length(5);
    expect(reviews.clock.sleeperCount).to.equal(0);
  });

  it('ends with its signal, while it waits to ask again as well, and logs nothing of that', async () => {
    const reviews = recordReviews(refusing(500));
    const leaving = new AbortController();
    const outcome = reviews.client
      .review('/reviews', {}, leaving.signal)
      .catch((error: Error) => error.message);
    await reviews.clock.advance(1);
    leaving.abort(new Error('the caller left'));
    expect(await outcome).to.equal('the caller left');
    expect(reviews.clock.sleeperCount).to.equal(0);
    expect(reviews.asked).to.have.length(1);
    expect(reviews.logger.lines).to.deep.equal([]);
  });

  for (const [what, answer] of [
    ['an API server that cannot be reached', unreachable],
    ['a refusal', refusing(403)],
  ] as const) {
    it(`gives up at once on ${what}`, async () => {
      const reviews = recordReviews(answer);
      await reviews.client.review('/reviews', {}).catch(() => {});
      expect(reviews.asked).to.have.length(1);
    });
  }

  it('logs when trouble begins and when it ends', async () => {
    const reviews = recordReviews(unreachable);
    for (let count = 0; count < 3; count++) await reviews.client.review('/reviews', {}).catch(() => {});
    reviews.answer = () => 'fine';
    for (let count = 0; count < 3; count++) await reviews.client.review('/reviews', {});
    expect(reviews.logger.lines.map(({ level, message }) => [level, message])).to.deep.equal([
      ['error', 'Cannot have a Review answered; callers are refused meanwhile'],
      ['info', 'Reviews are answered again'],
    ]);
  });
});
