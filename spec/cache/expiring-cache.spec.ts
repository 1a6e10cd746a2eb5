import { expect } from 'chai';
import { ExpiringCache } from '#lib/cache/expiring-cache.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('ExpiringCache', () => {
  it('computes once within a lifetime, and again after it', async () => {
    const { clock, compute, cache } = setUp();
    expect(await cache.getOrCompute('a', compute)).to.equal(1);
    await clock.advance(999);
    expect(await cache.getOrCompute('a', compute)).to.equal(1);
    await clock.advance(1);
    expect(await cache.getOrCompute('a', compute)).to.equal(2);
  });

  it('caches nothing with a lifetime of 0', async () => {
    const { compute, cache } = setUp();
    const brief = { ...compute, lifetimeMs: () => 0 };
    expect(await cache.getOrCompute('a', brief)).to.equal(1);
    expect(await cache.getOrCompute('a', brief)).to.equal(2);
  });

  it('shares one computation between concurrent callers', async () => {
    const { compute, cache } = setUp();
    const responses = await Promise.all([1, 2, 3].map(() => cache.getOrCompute('a', compute)));
    expect(responses).to.deep.equal([1, 1, 1]);
  });

  it('rejects all waiting callers with a failure, and does not cache it', async () => {
    const { compute, cache } = setUp();
    const failing = { ...compute, compute: () => Promise.reject(new Error('no')) };
    const responses = await Promise.allSettled([1, 2].map(() => cache.getOrCompute('a', failing)));
    expect(responses.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(await cache.getOrCompute('a', compute)).to.equal(1);
  });

  it('aborts a computation without waiting callers, and computes again for a later caller', async () => {
    const { compute, cache } = setUp();
    const signals: AbortSignal[] = [];
    const hanging = {
      ...compute,
      compute: (signal: AbortSignal) => {
        signals.push(signal);
        return raceAbort(new Promise<never>(() => {}), signal);
      },
    };
    const [one, other] = [new AbortController(), new AbortController()];
    const waiting = [one, other].map(({ signal }) =>
      cache.getOrCompute('a', { ...hanging, signal: () => signal }).catch((error: Error) => error.message),
    );
    one.abort(new Error('the first left'));
    expect(await waiting[0]).to.equal('the first left');
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false]);
    other.abort(new Error('the second left'));
    expect(await waiting[1]).to.equal('the second left');
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true]);
    expect(await cache.getOrCompute('a', compute)).to.equal(1);
  });

  it('returns the result of a computation that all callers had left to a later caller, and caches it', async () => {
    const { compute, cache } = setUp();
    const { promise, resolve } = Promise.withResolvers<number>();
    const leaving = new AbortController();
    const unheeding = { ...compute, compute: () => promise };
    const left = cache.getOrCompute('a', { ...unheeding, signal: () => leaving.signal });
    const reason = left.catch((error: Error) => error.message);
    leaving.abort(new Error('gone'));
    expect(await reason).to.equal('gone');
    const next = cache.getOrCompute('a', compute);
    resolve(7);
    expect(await next).to.equal(7);
    expect(cache.get('a')).to.equal(7);
  });

  it('computes again for a caller during the end of an aborted computation', async () => {
    const { compute, cache } = setUp();
    const { promise, reject } = Promise.withResolvers<number>();
    const leaving = new AbortController();
    const left = cache.getOrCompute('a', {
      ...compute,
      compute: () => promise,
      signal: () => leaving.signal,
    });
    left.catch(() => {});
    leaving.abort(new Error('gone'));
    await left.catch(() => {});
    const next = [1, 2].map(() => cache.getOrCompute('a', compute));
    reject(new Error('nobody waits'));
    expect(await Promise.all(next)).to.deep.equal([1, 1]);
  });

  it('does not request a signal if the value is cached', async () => {
    const { compute, cache } = setUp();
    await cache.getOrCompute('a', compute);
    const signal = () => expect.fail('it was asked for');
    expect(await cache.getOrCompute('a', { ...compute, signal })).to.equal(1);
  });

  it('evicts the least recently used entry at its limit', async () => {
    const { compute, cache } = setUp();
    await cache.getOrCompute('a', compute);
    await cache.getOrCompute('b', compute);
    cache.get('a');
    await cache.getOrCompute('c', compute);
    expect(cache.size).to.equal(2);
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).to.deep.equal([1, undefined, 3]);
  });
});

/** A cache of two, and a computation that counts its calls. */
function setUp() {
  const clock = new ManualClock();
  let count = 0;
  const compute = { compute: async () => ++count, lifetimeMs: () => 1000 };
  return { clock, compute, cache: new ExpiringCache<number>({ clock, maxEntries: 2 }) };
}
