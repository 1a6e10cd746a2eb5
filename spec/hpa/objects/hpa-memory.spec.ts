import { expect } from 'chai';
import { remember } from '#lib/hpa/objects/hpa-memory.ts';

describe('remember', () => {
  it('appends while nothing is too old', () => {
    expect(remember([1, 2], 3, () => false)).to.deep.equal([1, 2, 3]);
    expect(remember([], 3, () => true)).to.deep.equal([3]);
  });

  it('overwrites the last that is too old, and changes no list', () => {
    const entries = [1, 5, 2, 6];
    expect(remember(entries, 9, (entry) => entry < 3)).to.deep.equal([1, 5, 9, 6]);
    expect(entries).to.deep.equal([1, 5, 2, 6]);
  });
});
