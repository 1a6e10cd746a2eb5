import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect } from 'chai';
import { Semaphore } from '#lib/concurrency/semaphore.ts';

const forever = new AbortController().signal;

describe('Semaphore', () => {
  it('lets in as many as its limit and the rest as those leave, in order', async () => {
    const semaphore = new Semaphore(2);
    const entered: number[] = [];
    const permits = await Promise.all([semaphore.acquire(forever), semaphore.acquire(forever)]);
    const waiting = [1, 2, 3].map(async (each) => {
      const held = await semaphore.acquire(forever);
      entered.push(each);
      return held;
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
    const held = await semaphore.acquire(forever);
    held[Symbol.dispose]();
    held[Symbol.dispose]();
    await semaphore.acquire(forever);
    let hasEntered = false;
    void semaphore.acquire(forever).then(() => {
      hasEntered = true;
    });
    await yieldToEventLoop();
    expect(hasEntered).to.equal(false);
  });

  it('is exhausted while somebody waits, and not before', async () => {
    const semaphore = new Semaphore(1);
    const leaving = new AbortController();
    const held = await semaphore.acquire(forever);
    expect(semaphore.isExhausted).to.equal(false);
    const second = semaphore.acquire(forever);
    const third = semaphore.acquire(leaving.signal).catch(() => 'left');
    expect(semaphore.isExhausted).to.equal(true);
    held[Symbol.dispose]();
    await second;
    expect(semaphore.isExhausted).to.equal(true);
    leaving.abort();
    expect(await third).to.equal('left');
    expect(semaphore.isExhausted).to.equal(false);
  });

  it('lets go of one whose signal aborts while it waits', async () => {
    const semaphore = new Semaphore(1);
    const held = await semaphore.acquire(forever);
    const aborting = new AbortController();
    const refused = semaphore.acquire(aborting.signal).catch((error: Error) => error.message);
    const next = semaphore.acquire(forever);
    aborting.abort(new Error('too late'));
    expect(await refused).to.equal('too late');
    held[Symbol.dispose]();
    await next;
  });
});
