import { expect } from 'chai';
import { ReviewClient } from '#lib/apiserver/access/review-client.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { connectionLost, recordReviews, refusing, unreachable } from '#spec/support/recorded-reviews.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

describe('ReviewClient', () => {
  it('retries at once when a persistent connection was closed', async () => {
    const reviews = recordReviews(() => (reviews.requested.length === 1 ? connectionLost() : 'fine'));
    const response = reviews.client.review('/reviews', {}, { flow: 'a' });
    expect(await response).to.deep.equal({ status: 'fine' });
    expect(reviews.requested).to.have.length(2);
  });

  for (const statusCode of [429, 500, 504]) {
    it(`retries with backoff after status ${statusCode}`, async () => {
      const reviews = recordReviews(refusing(statusCode));
      const response = reviews.client.review('/reviews', {}, { flow: 'a' });
      await reviews.clock.advance(249);
      expect(reviews.requested).to.have.length(1);
      await reviews.clock.advance(1);
      expect(reviews.requested).to.have.length(2);
      reviews.response = () => 'fine';
      await reviews.clock.advance(500);
      expect(await response).to.deep.equal({ status: 'fine' });
    });
  }

  it('fails after five attempts', async () => {
    const reviews = recordReviews(refusing(500));
    const outcome = reviews.client.review('/reviews', {}, { flow: 'a' }).then(
      () => 'responded',
      (error: Error) => error.message,
    );
    await reviews.clock.advance(10_000);
    expect(await outcome).to.equal('refused (status 500)');
    expect(reviews.requested).to.have.length(5);
    expect(reviews.clock.sleeperCount).to.equal(0);
  });

  it('ends when its signal aborts, also while it waits for a retry, and logs nothing', async () => {
    const reviews = recordReviews(refusing(500));
    const leaving = new AbortController();
    const outcome = reviews.client
      .review('/reviews', {}, { flow: 'a', signal: leaving.signal })
      .catch((error: Error) => error.message);
    await reviews.clock.advance(1);
    leaving.abort(new Error('the caller left'));
    expect(await outcome).to.equal('the caller left');
    expect(reviews.clock.sleeperCount).to.equal(0);
    expect(reviews.requested).to.have.length(1);
    expect(reviews.logger.lines).to.deep.equal([]);
  });

  it('completes a review that no caller needs, since closing its connection costs more', async () => {
    let signals = 0;
    let respond: (status: unknown) => void = () => {};
    const client = new ReviewClient({
      client: {
        postJson: (_path, _body, options) => {
          if (options?.signal) signals++;
          return new Promise((resolve) => {
            respond = resolve;
          });
        },
      },
      clock: new ManualClock(),
      logger: new RecordingLogger(),
      kind: 'Review',
      limits: { underWay: 1, waiting: 2 },
    });
    const leaving = new AbortController();
    const sent = client.review('/reviews', {}, { flow: 'a', signal: leaving.signal });
    const unsent = client.review('/reviews', {}, { flow: 'b', signal: leaving.signal });
    const refused = unsent.catch((error: Error) => error.message);
    leaving.abort(new Error('the caller left'));
    expect(await refused).to.equal('the caller left');
    respond('fine');
    expect(await sent).to.equal('fine');
    expect(signals).to.equal(0);
  });

  it('refuses with 429 what may not even wait, and logs nothing of that', async () => {
    const logger = new RecordingLogger();
    let refused = 0;
    const client = new ReviewClient({
      client: { postJson: () => new Promise(() => {}) },
      clock: new ManualClock(),
      logger,
      kind: 'Review',
      limits: { underWay: 2, waiting: 2 },
      onRefused: () => refused++,
    });
    for (let count = 0; count < 2; count++) void client.review('/reviews', {}, { flow: 'a' });
    const failure = await client.review('/reviews', {}, { flow: 'a' }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(StatusError).with.property('code', 429);
    expect(failure).to.have.nested.property('details.retryAfterSeconds', 1);
    expect(refused).to.equal(1);
    expect(logger.lines).to.deep.equal([]);
  });

  for (const [what, response] of [
    ['an API server that cannot be reached', unreachable],
    ['a refusal', refusing(403)],
  ] as const) {
    it(`fails at once after ${what}`, async () => {
      const reviews = recordReviews(response);
      await reviews.client.review('/reviews', {}, { flow: 'a' }).catch(() => {});
      expect(reviews.requested).to.have.length(1);
    });
  }

  it('logs when trouble begins and when it ends', async () => {
    const reviews = recordReviews(unreachable);
    for (let count = 0; count < 3; count++)
      await reviews.client.review('/reviews', {}, { flow: 'a' }).catch(() => {});
    reviews.response = () => 'fine';
    for (let count = 0; count < 3; count++) await reviews.client.review('/reviews', {}, { flow: 'a' });
    expect(reviews.logger.lines.map(({ level, message }) => [level, message])).to.deep.equal([
      ['error', 'Cannot get Review response from the API server; refusing requests until one succeeds'],
      ['info', 'Reviews succeed again'],
    ]);
  });
});
