import { expect } from 'chai';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { retryOnConflict } from '#lib/kubernetes/client/retry-on-conflict.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('retryOnConflict', () => {
  it('does the work again until there is no conflict, after a short while each', async () => {
    const clock = new ManualClock();
    const atMs: number[] = [];
    const work = async () => {
      atMs.push(clock.monotonicMs());
      if (atMs.length < 3) throw conflict();
      return 'done';
    };
    const working = retryOnConflict(work, { clock, random: () => 0.5 });
    await clock.advance(1000);
    expect(await working).to.equal('done');
    expect(atMs).to.deep.equal([0, 15, 30]);
  });

  it('gives up after five attempts, and at once on any other failure', async () => {
    const clock = new ManualClock();
    let attempts = 0;
    const always = retryOnConflict(
      () => {
        attempts++;
        return Promise.reject(conflict());
      },
      { clock },
    ).catch((error: unknown) => error);
    await clock.advance(1000);
    expect(await always).to.have.property('statusCode', 409);
    expect(attempts).to.equal(5);
    for (const failure of [new Error('no'), conflict('AlreadyExists')]) {
      attempts = 0;
      const work = () => {
        attempts++;
        return Promise.reject(failure);
      };
      expect(await retryOnConflict(work, { clock }).catch((error: unknown) => error)).to.equal(failure);
      expect(attempts).to.equal(1);
    }
  });

  it('ends when its signal aborts', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const { signal } = controller;
    const working = retryOnConflict(() => Promise.reject(conflict()), { clock, signal }).catch(String);
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('enough'));
    expect(await working).to.equal('Error: enough');
    expect(clock.sleeperCount).to.equal(0);
  });
});

function conflict(reason = 'Conflict'): ApiError {
  return new ApiError('it has changed', { statusCode: 409, reason, retryAfterMs: undefined });
}
