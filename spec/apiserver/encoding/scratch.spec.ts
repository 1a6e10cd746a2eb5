import { expect } from 'chai';
import { returnScratch, takeScratch } from '#lib/apiserver/encoding/scratch.ts';

describe('takeScratch', () => {
  beforeEach(() => {
    takeScratch(); // whatever others have given back
  });

  it('never gives the same room to two at once, and the largest that was given back again', () => {
    const [first, second] = [takeScratch(), takeScratch()];
    expect(first.buffer).not.to.equal(second.buffer);
    const larger = Buffer.allocUnsafe(first.length + second.length);
    returnScratch(first);
    returnScratch(larger);
    returnScratch(second);
    expect(takeScratch()).to.equal(larger);
    expect([first, larger, second]).not.to.include(takeScratch());
  });

  it('does not hold on to what is too large', () => {
    const tooLarge = Buffer.allocUnsafe(9 * 1024 * 1024);
    returnScratch(tooLarge);
    expect(takeScratch()).not.to.equal(tooLarge);
  });
});
