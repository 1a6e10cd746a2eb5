import { expect } from 'chai';
import { formatValue } from '#lib/collection/format-value.ts';

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
});
