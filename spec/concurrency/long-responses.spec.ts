import { expect } from 'chai';
import { LongResponses } from '#lib/concurrency/long-responses.ts';

const LONG = 64 * 1024 + 1;

describe('LongResponses', () => {
  it('has the seventeenth long one wait until another has ended, and no short one', async () => {
    const responses = new LongResponses();
    const retained = Array.from({ length: 16 }, (_, index) => responses.begin(`host-${index}`));
    await Promise.all(retained.map((one) => one.onLength(LONG)));
    using next = responses.begin('next');
    expect(next.onLength(LONG - 1)).to.equal(undefined);
    let isLetIn = false;
    const waiting = next.onLength(LONG)?.then(() => {
      isLetIn = true;
    });
    await new Promise(setImmediate);
    expect(isLetIn).to.equal(false);
    retained[3]?.[Symbol.dispose]();
    await waiting;
    for (const one of retained) one[Symbol.dispose]();
  });

  it('leaves half of the part of an owner to its other hosts', async () => {
    const responses = new LongResponses();
    let count = 0;
    const read = (owner: string, host?: string) => {
      const response = responses.begin(owner, host);
      response.onLength(LONG)?.then(
        () => count++,
        () => {}, // it has ended
      );
      return response;
    };
    const countAfter = async (...begun: readonly Disposable[]) => {
      await new Promise(setImmediate);
      return [count, begun.length];
    };
    const slow = Array.from({ length: 8 }, () => read('team-1', 'slow'));
    expect(await countAfter(...slow)).to.deep.equal([4, 8]);
    using fast = read('team-1', 'fast');
    expect(await countAfter(fast)).to.deep.equal([5, 1]);
    const others = Array.from({ length: 8 }, (_, index) => read('team-1', `host-${index}`));
    expect(await countAfter(...others)).to.deep.equal([8, 8]); // the share of one owner
    using other = read('team-2', 'slow');
    expect(await countAfter(other)).to.deep.equal([9, 1]);
    for (const one of [...slow, ...others]) one[Symbol.dispose]();
    using again = read('team-1', 'slow');
    await new Promise(setImmediate);
    const before = count;
    using next = read('team-1', 'slow');
    expect(await countAfter(again, next)).to.deep.equal([before + 1, 2]);
  });

  it('gives up what one that has ended has waited for', async () => {
    const responses = new LongResponses();
    const retained = Array.from({ length: 16 }, (_, index) => responses.begin(`host-${index}`));
    await Promise.all(retained.map((one) => one.onLength(LONG)));
    const given = responses.begin('given');
    const failed = given.onLength(LONG)?.then(
      () => 'let in',
      (error: Error) => error.message,
    );
    given[Symbol.dispose]();
    expect(await failed).to.equal('the response has ended');
    retained[0]?.[Symbol.dispose]();
    using last = responses.begin('last');
    await last.onLength(LONG);
    for (const one of retained) one[Symbol.dispose]();
  });
});
