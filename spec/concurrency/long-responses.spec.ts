import { expect } from 'chai';
import { LongResponses } from '#lib/concurrency/long-responses.ts';

const LONG = 64 * 1024 + 1;

describe('LongResponses', () => {
  it('has the seventeenth long one wait until another has ended, and no short one', async () => {
    const responses = new LongResponses();
    const held = Array.from({ length: 16 }, (_, index) => responses.begin(`host-${index}`));
    await Promise.all(held.map((one) => one.onLength(LONG)));
    using next = responses.begin('next');
    expect(next.onLength(LONG - 1)).to.equal(undefined);
    let isLetIn = false;
    const waiting = next.onLength(LONG)?.then(() => {
      isLetIn = true;
    });
    await new Promise(setImmediate);
    expect(isLetIn).to.equal(false);
    held[3]?.[Symbol.dispose]();
    await waiting;
    for (const one of held) one[Symbol.dispose]();
  });

  it('gives up what one that has ended has waited for', async () => {
    const responses = new LongResponses();
    const held = Array.from({ length: 16 }, (_, index) => responses.begin(`host-${index}`));
    await Promise.all(held.map((one) => one.onLength(LONG)));
    const given = responses.begin('given');
    const failed = given.onLength(LONG)?.then(
      () => 'let in',
      (error: Error) => error.message,
    );
    given[Symbol.dispose]();
    expect(await failed).to.equal('the response has ended');
    held[0]?.[Symbol.dispose]();
    using last = responses.begin('last');
    await last.onLength(LONG);
    for (const one of held) one[Symbol.dispose]();
  });
});
