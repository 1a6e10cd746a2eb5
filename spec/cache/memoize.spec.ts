import { expect } from 'chai';
import { memoize, memoizeByObject } from '#lib/cache/memoize.ts';

describe('memoize', () => {
  let made: string[];
  let lengthOf: (text: string) => number | undefined;
  beforeEach(() => {
    made = [];
    lengthOf = memoize(
      (text) => {
        made.push(text);
        if (text === '!') throw new Error('cannot read !');
        return text === '' ? undefined : text.length;
      },
      { maxEntries: 3, maxLength: 4 },
    );
  });

  it('computes the result of a text once, even if it is undefined', () => {
    for (const text of ['ab', '', 'ab', '']) expect(lengthOf(text)).to.equal(text.length || undefined);
    expect(made).to.deep.equal(['ab', '']);
  });

  it('tries again what failed', () => {
    for (const _time of [1, 2]) expect(() => lengthOf('!')).to.throw('cannot read !');
    expect(made).to.deep.equal(['!', '!']);
  });

  it('caches no result of a text that is too long', () => {
    expect([lengthOf('12345'), lengthOf('12345')]).to.deep.equal([5, 5]);
    expect(made).to.deep.equal(['12345', '12345']);
  });

  it('evicts all entries where there are too many', () => {
    for (const text of ['a', 'b', 'c', 'd', 'd', 'c']) lengthOf(text);
    expect(made).to.deep.equal(['a', 'b', 'c', 'd', 'c']);
  });

  it('caches no result that is too large', () => {
    const made: string[] = [];
    const repeated = memoize(
      (text: string, count: number) => {
        made.push(text);
        return text.repeat(count);
      },
      { maxEntries: 3, maxLength: 4, isSmall: ({ length }) => length <= 10 },
    );
    expect([repeated('a', 10), repeated('a', 10)]).to.deep.equal(['a'.repeat(10), 'a'.repeat(10)]);
    expect([repeated('b', 11), repeated('b', 11)]).to.deep.equal(['b'.repeat(11), 'b'.repeat(11)]);
    expect(made).to.deep.equal(['a', 'b', 'b']);
  });
});

describe('memoizeByObject', () => {
  it('makes the same of an object once, and of an equal one again', () => {
    const nameOf = memoizeByObject(({ name }: { readonly name: string }) => ({ name }));
    const one = { name: 'a' };
    expect(nameOf(one)).to.equal(nameOf(one));
    expect(nameOf({ name: 'a' })).not.to.equal(nameOf(one));
  });
});
