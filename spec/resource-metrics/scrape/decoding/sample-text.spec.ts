import { expect } from 'chai';
import fc from 'fast-check';
import { sampleValue, withoutEscapes } from '#lib/resource-metrics/scrape/decoding/sample-reader.ts';

describe('sampleValue', () => {
  it('reads every number as it is printed, by Go and by JavaScript', () => {
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

  it('takes nothing else for one, though Number may', () => {
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

  it('leaves out backslashes as a plain replacement does', () => {
    const text = fc.string({ unit: fc.constantFrom('\\', '"', 'n', 'a', 'ä', '\u{1f600}') });
    fc.assert(
      fc.property(text, (value) => {
        expect(withoutEscapes(value)).to.equal(plain(value));
      }),
      { numRuns: 1000 },
    );
  });
});
