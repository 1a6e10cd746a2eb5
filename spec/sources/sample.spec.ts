import { expect } from 'chai';
import fc from 'fast-check';
import { measuredAt, parseDecimal } from '#lib/sources/sample.ts';

describe('parseDecimal', () => {
  it('reads every finite number as JavaScript writes it', () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
        expect(parseDecimal(String(value))).to.equal(value === 0 ? 0 : value);
      }),
    );
  });

  it('reads what servers in other languages write', () => {
    const read = { '+1': 1, '-1.50': -1.5, '.5': 0.5, '5.': 5, '1E+06': 1e6, '007': 7, '1e-400': 0 };
    for (const [text, value] of Object.entries(read)) expect(parseDecimal(text), text).to.equal(value);
    expect(parseDecimal(`1${'0'.repeat(308)}.${'0'.repeat(20)}`)).to.equal(1e308);
  });

  it('rejects other values as a number', () => {
    const others = [
      '',
      ' ',
      ' 1',
      '1 ',
      'NaN',
      '+Inf',
      'Infinity',
      '0x10',
      '0b1',
      '1_000',
      '1,5',
      '.',
      '+',
      'e5',
      '1e',
      '1e999',
    ];
    expect(parseDecimal(`0.${'1'.repeat(398)}`)).to.equal(0.1111111111111111);
    for (const text of [...others, `0.${'1'.repeat(399)}`, '1'.repeat(401), `${'9'.repeat(400)}`])
      expect(parseDecimal(text), text).to.equal(undefined);
  });
});

const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

describe('measuredAt', () => {
  it('accepts times from 1970 to 9999, in whole milliseconds', () => {
    expect(measuredAt(0)).to.deep.equal({ takenAtMs: 0 });
    expect(measuredAt(1767225600123.4)).to.deep.equal({ takenAtMs: 1767225600123 });
    expect(measuredAt(LAST_MS)).to.deep.equal({ takenAtMs: LAST_MS });
  });

  it('rejects other times', () => {
    for (const timeMs of [-1, LAST_MS + 1, 1e300, Number.POSITIVE_INFINITY, Number.NaN])
      expect(measuredAt(timeMs)).to.deep.equal({});
  });
});
