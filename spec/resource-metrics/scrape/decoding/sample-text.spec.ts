import { expect } from 'chai';
import fc from 'fast-check';
import { sampleValue, withoutEscapes } from '#lib/resource-metrics/scrape/decoding/sample-reader.ts';

describe('sampleValue', () => {
  it('parses numbers printed by Go and JavaScript', () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (number) => {
        expect(sampleValue(String(number))).to.equal(number + 0);
        expect(sampleValue(number.toExponential().replace('e+', 'E+'))).to.equal(number + 0);
      }),
    );
    for (const [text, value] of [
      ['.5', 0.5],
      ['5.', 5],
      ['+5', 5],
      ['-0', -0],
      ['NaN', Number.NaN],
      ['Inf', Number.POSITIVE_INFINITY],
      ['+Inf', Number.POSITIVE_INFINITY],
      ['-Inf', Number.NEGATIVE_INFINITY],
      ['1e999', Number.POSITIVE_INFINITY],
    ] as const)
      expect(sampleValue(text), text).to.deep.equal(value);
  });

  it('rejects other texts, even if Number accepts them', () => {
    for (const text of [
      '',
      ' ',
      '.',
      '-',
      '0x10',
      '1_000',
      '1e',
      'e5',
      'Infinity',
      'inf',
      'nan',
      '1 2',
      '0b1',
      '٣',
    ])
      expect(sampleValue(text), text).to.equal(undefined);
  });
});

describe('withoutEscapes', () => {
  const plain = (value: string) =>
    value.replace(
      /\\(.?)/gs,
      (both, escaped) => ({ n: '\n', '"': '"', '\\': '\\' })[escaped as string] ?? both,
    );

  it('resolves escapes like a replacement by regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('\\', '"', 'n', 'a', 'ä', '\u{1f600}') });
    fc.assert(
      fc.property(text, (value) => {
        expect(withoutEscapes(value)).to.equal(plain(value));
      }),
      { numRuns: 1000 },
    );
  });
});
