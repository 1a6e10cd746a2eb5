import { expect } from 'chai';
import { formatValue } from '#lib/collection/format-value.ts';
import { Quantity } from '#lib/kubernetes/exact-quantity.ts';

describe('formatValue', () => {
  it('writes a number as a quantity, cut off after thousandths', () => {
    const written: [number, string][] = [
      [0, '0'],
      [12, '12'],
      [-3, '-3'],
      [0.0004, '0'],
      [1.9999, '1999m'],
      [-1.9999, '-1999m'],
      [4.35, '4350m'], // 4349.999… where a double multiplies it
      [1_500_000, '1500k'],
    ];
    expect(written.map(([value]) => formatValue(value))).to.deep.equal(written.map(([, text]) => text));
  });

  it('writes the greatest numbers as the greatest quantity, of which some stand for none at all', () => {
    for (const value of [1e19, 1e305, 1e306, Number.MAX_VALUE]) {
      expect(formatValue(value)).to.equal('9223372036854775807');
      expect(formatValue(-value)).to.equal('-9223372036854775807');
    }
  });

  it('writes every number as quantities are written', () => {
    const digits = [1, -1, 7, 10, 12.5, 999, 1_000, 1_024, 1_001, 999_999.999, 9_007_199_254_740.992];
    for (const digit of digits) {
      for (let power = -5; power <= 25; power++) {
        const value = digit * 10 ** power;
        const nanos = BigInt(Math.trunc(Number((value * 1000).toPrecision(15)))) * 1_000_000n;
        expect(formatValue(value), String(value)).to.equal(Quantity.ofNanos(nanos).toString());
      }
    }
  });
});
