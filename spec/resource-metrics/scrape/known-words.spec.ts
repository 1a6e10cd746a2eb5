import { expect } from 'chai';
import fc from 'fast-check';
import { KnownWords } from '#lib/resource-metrics/scrape/known-words.ts';

describe('KnownWords', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 6 });

  it('finds the known words, wherever they are written, and no others', () => {
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 1 }), word, fc.string(), (known, asked, before) => {
        const words = new KnownWords(known);
        const expected = known.includes(asked) ? asked : '';
        expect(words.findText(asked)).to.equal(expected);
        const start = Buffer.byteLength(before);
        const bytes = Buffer.from(`${before}${asked}!`);
        expect(words.find(bytes, start, start + asked.length)).to.equal(expected);
      }),
    );
  });

  it('takes what is empty for unknown', () => {
    expect(new KnownWords(['a']).findText('')).to.equal('');
  });
});
