import { expect } from 'chai';
import { remembering } from '#lib/cache/memoize.ts';

describe('remembering', () => {
  let made: string[];
  let lengthOf: (text: string) => number | undefined;
  beforeEach(() => {
    made = [];
    lengthOf = remembering(
      (text) => {
        made.push(text);
        if (text === '!') throw new Error('cannot read !');
        return text === '' ? undefined : text.length;
      },
      { most: 3, longest: 4 },
    );
  });

  it('makes the same of a text once, whatever that is', () => {
    for (const text of ['ab', '', 'ab', '']) expect(lengthOf(text)).to.equal(text.length || undefined);
    expect(made).to.deep.equal(['ab', '']);
  });

  it('tries again what failed', () => {
    for (const _time of [1, 2]) expect(() => lengthOf('!')).to.throw('cannot read !');
    expect(made).to.deep.equal(['!', '!']);
  });

  it('keeps no text that is too long', () => {
    expect([lengthOf('12345'), lengthOf('12345')]).to.deep.equal([5, 5]);
    expect(made).to.deep.equal(['12345', '12345']);
  });

  it('forgets all once there are too many', () => {
    for (const text of ['a', 'b', 'c', 'd', 'd', 'c']) lengthOf(text);
    expect(made).to.deep.equal(['a', 'b', 'c', 'd', 'c']);
  });
});
