import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { FairSemaphore, QueueFullError, Semaphore } from '#lib/concurrency/semaphore.ts';

const forever = new AbortController().signal;

describe('Semaphore', () => {
  it('lets in as many as its limit and the rest as those leave, in order', async () => {
    const semaphore = new Semaphore(2);
    const entered: number[] = [];
    const permits = await Promise.all([semaphore.acquire(forever), semaphore.acquire(forever)]);
    const waiting = [1, 2, 3].map(async (each) => {
      const retained = await semaphore.acquire(forever);
      entered.push(each);
      return retained;
    });
    await yieldToEventLoop();
    expect(entered).to.deep.equal([]);
    permits[0][Symbol.dispose]();
    await yieldToEventLoop();
    expect(entered).to.deep.equal([1]);
    permits[1][Symbol.dispose]();
    await yieldToEventLoop();
    expect(entered).to.deep.equal([1, 2]);
    (await waiting[0])?.[Symbol.dispose]();
    await yieldToEventLoop();
    expect(entered).to.deep.equal([1, 2, 3]);
  });

  it('counts a permit that is given back twice as given back once', async () => {
    const semaphore = new Semaphore(1);
    const retained = await semaphore.acquire(forever);
    retained[Symbol.dispose]();
    retained[Symbol.dispose]();
    await semaphore.acquire(forever);
    let hasEntered = false;
    void semaphore.acquire(forever).then(() => {
      hasEntered = true;
    });
    await yieldToEventLoop();
    expect(hasEntered).to.equal(false);
  });

  it('rejects a waiting caller whose signal aborts', async () => {
    const semaphore = new Semaphore(1);
    const retained = await semaphore.acquire(forever);
    const aborting = new AbortController();
    const refused = semaphore.acquire(aborting.signal).catch((error: Error) => error.message);
    const next = semaphore.acquire(forever);
    aborting.abort(new Error('too late'));
    expect(await refused).to.equal('too late');
    retained[Symbol.dispose]();
    await next;
  });
});

describe('FairSemaphore', () => {
  it('leaves others as many permits as one tenant has', async () => {
    const { retained, request } = setUp(12);
    request('a', 20);
    await yieldToEventLoop();
    expect(retained('a')).to.equal(6);
    request('b', 20);
    await yieldToEventLoop();
    expect([retained('a'), retained('b')]).to.deep.equal([6, 3]);
    request('c', 1);
    await yieldToEventLoop();
    expect(retained('c')).to.equal(1);
  });

  it('grants returned permits first to the tenants with the fewest', async () => {
    const { retained, request, release } = setUp(4);
    request('a', 3);
    request('b', 3);
    request('c', 3);
    await yieldToEventLoop();
    expect([retained('a'), retained('b'), retained('c')]).to.deep.equal([2, 1, 1]);
    request('d', 1);
    await yieldToEventLoop();
    expect(retained('d')).to.equal(0);
    release('a');
    await yieldToEventLoop();
    expect([retained('a'), retained('d')]).to.deep.equal([1, 1]);
  });

  it('gives several permits at once, as many as the tenant leaves free to others and no more', () => {
    const semaphore = new FairSemaphore(12);
    const half = semaphore.tryAcquire('a', 6);
    expect(half).not.to.equal(undefined);
    expect(semaphore.tryAcquire('a', 1)).to.equal(undefined);
    expect(semaphore.tryAcquire('b', 4)).to.equal(undefined);
    expect(semaphore.tryAcquire('b', 3)).not.to.equal(undefined);
    half?.[Symbol.dispose]();
    half?.[Symbol.dispose](); // counts once
    expect(semaphore.tryAcquire('a', 6)).to.equal(undefined);
    expect(semaphore.tryAcquire('a', 5)).not.to.equal(undefined);
    expect(semaphore.tryAcquire('c', Number.NaN)).to.equal(undefined);
  });

  it('grants permits round robin to tenants with equally many', async () => {
    const semaphore = new FairSemaphore(2);
    const order: string[] = [];
    const retained: Disposable[] = [];
    for (const name of ['a', 'b', 'a', 'a', 'b', 'b', 'c'])
      void semaphore.acquire(name).then((permit) => {
        order.push(name);
        retained.push(permit);
      });
    for (let round = 0; round < 4; round++) {
      await yieldToEventLoop();
      retained.shift()?.[Symbol.dispose]();
    }
    await yieldToEventLoop();
    expect(order.slice(2).sort()).to.deep.equal(['a', 'a', 'b', 'c']);
  });

  it('lets one tenant have half of the waiting callers, and rejects callers beyond that and beyond the total', async () => {
    const semaphore = new FairSemaphore(2, { maxWaiting: 4 });
    const refused: string[] = [];
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1', 'c2'])
      semaphore.acquire(name.charAt(0)).catch((error: unknown) => {
        expect(error).to.be.instanceOf(QueueFullError);
        refused.push(name);
      });
    await yieldToEventLoop();
    expect(refused).to.deep.equal(['a4', 'c2']);
    expect(semaphore.waitingCount).to.equal(4);
  });

  it('lets one alone have a single permit', async () => {
    const { retained, request, release } = setUp(1);
    request('a', 2);
    await yieldToEventLoop();
    expect(retained('a')).to.equal(1);
    release('a');
    await yieldToEventLoop();
    expect(retained('a')).to.equal(1);
  });

  it('rejects a waiting caller whose signal aborts, and retains no tenant', async () => {
    const semaphore = new FairSemaphore(1);
    const first = await semaphore.acquire('a', forever);
    const leaving = new AbortController();
    const refused = semaphore.acquire('b', leaving.signal).catch((error: Error) => error.message);
    const next = semaphore.acquire('c', forever);
    leaving.abort(new Error('too late'));
    expect(await refused).to.equal('too late');
    first[Symbol.dispose]();
    first[Symbol.dispose](); // counts once
    const second = await next;
    expect(semaphore.isIdle).to.equal(false);
    second[Symbol.dispose]();
    expect(semaphore.isIdle).to.equal(true);
  });

  it('never exceeds its limit, and admits every caller in the end', async () => {
    const step = fc.oneof(
      fc.record({ requests: fc.constantFrom('a', 'b', 'c'), count: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ leaves: fc.constantFrom('a', 'b', 'c') }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.array(step), async (limit, steps) => {
        const { semaphore, retained, waiting, request, release } = setUp(limit);
        const all = () => retained('a') + retained('b') + retained('c');
        for (const one of steps) {
          if ('requests' in one) request(one.requests, one.count);
          else release(one.leaves);
          await yieldToEventLoop();
          expect(all()).to.be.at.most(limit);
          if (waiting() > 0) expect(all()).to.be.at.least(Math.ceil(limit / 2));
        }
        while (all() > 0) {
          for (const name of ['a', 'b', 'c']) release(name);
          await yieldToEventLoop();
        }
        expect(waiting()).to.equal(0);
        expect(semaphore.isIdle).to.equal(true);
      }),
    );
  });
});

function setUp(limit: number) {
  const semaphore = new FairSemaphore(limit);
  const permits = new Map<string, Disposable[]>();
  let waiting = 0;
  const of = (name: string) => permits.get(name) ?? [];
  return {
    semaphore,
    retained: (name: string) => of(name).length,
    waiting: () => waiting,
    request(name: string, count: number) {
      for (let index = 0; index < count; index++) {
        waiting++;
        void semaphore.acquire(name, forever).then((permit) => {
          waiting--;
          permits.set(name, [...of(name), permit]);
        });
      }
    },
    release: (name: string) => permits.get(name)?.shift()?.[Symbol.dispose](),
  };
}
