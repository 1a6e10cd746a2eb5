import { expect } from 'chai';
import { averageMeasure } from '#lib/hpa/proposals/average.ts';

describe('averageMeasure', () => {
  const values = (...amounts: number[]) =>
    new Map(amounts.map((amount, pod) => [`web-${pod}`, BigInt(amount)]));

  it('cuts the mean to whole thousandths before it compares', () => {
    expect(averageMeasure(10n).measure(values(10, 11, 12, 12))).to.deep.equal({ ratio: 1.1, average: 11n });
    expect(averageMeasure(10n).measure(values(-10, -11))).to.deep.equal({ ratio: -1, average: -10n });
  });

  it('assumes the target of a missing pod going down, no use going up, and nothing at exactly the target', () => {
    expect(averageMeasure(10n).assumedOfMissing('a', 0.99)).to.equal(10n);
    expect(averageMeasure(10n).assumedOfMissing('a', 1)).to.equal(undefined);
    expect(averageMeasure(10n).assumedOfMissing('a', 2)).to.equal(0n);
  });
});
