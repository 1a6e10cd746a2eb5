import { expect } from 'chai';
import fc from 'fast-check';
import { SharedStrings } from '#lib/resource-metrics/scrape/shared-strings.ts';

/** As whoever reads a text does. */
const read = (strings: SharedStrings, bytes: Buffer, start: number, end: number) =>
  strings.find(bytes, start, end) ?? strings.keep(bytes, start, end);

describe('SharedStrings', () => {
  it('gives the same string again', () => {
    const strings = new SharedStrings();
    const bytes = Buffer.from('"web-5d4f8-x2x9p"');
    expect(strings.find(bytes, 1, 16)).to.equal(undefined);
    strings.keep(bytes, 1, 16);
    expect(strings.find(bytes, 1, 16)).to.equal('web-5d4f8-x2x9p');
  });

  it('reads any text, however many were read before', () => {
    const strings = new SharedStrings();
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), (texts) => {
        const bytes = Buffer.from(texts.join('|'));
        let start = 0;
        for (const text of texts) {
          const end = start + Buffer.byteLength(text);
          expect(read(strings, bytes, start, end)).to.equal(text);
          start = end + 1;
        }
      }),
    );
  });

  it('never takes bytes that are no UTF-8, or other letters, for a text that was read before', () => {
    const strings = new SharedStrings();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3 }), (array) => {
        const bytes = Buffer.from(array);
        expect(read(strings, bytes, 0, bytes.length)).to.equal(bytes.toString());
      }),
      { numRuns: 1000 },
    );
  });
});
