import { expect } from 'chai';
import fc from 'fast-check';
import { formatBinaryThousandths, formatThousandths } from '#lib/hpa/quantities/format-thousandths.ts';
import { parseThousandths } from '#lib/hpa/quantities/parse-quantity.ts';

describe('formatThousandths', () => {
  const TEXTS: readonly [bigint, string][] = [
    [0n, '0'],
    [1n, '1m'],
    [-2500n, '-2500m'],
    [3000n, '3'],
    [20_000_000n, '20k'],
    [20_001_000n, '20001'],
    [9n * 10n ** 18n, '9P'],
    [-(2n ** 63n), '-9223372036854775808m'],
  ];
  for (const [thousandths, text] of TEXTS) {
    it(`writes ${text}`, () => expect(formatThousandths(thousandths)).to.equal(text));
  }

  it('writes what is read as the same', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (thousandths) => {
        expect(parseThousandths(formatThousandths(thousandths))).to.equal(thousandths);
        expect(parseThousandths(formatBinaryThousandths(thousandths))).to.equal(thousandths);
      }),
    );
  });
});

describe('formatBinaryThousandths', () => {
  const TEXTS: readonly [bigint, string][] = [
    [0n, '0'],
    [1023_000n, '1023'],
    [1000_000n, '1k'],
    [1024_000n, '1Ki'],
    [-1024_000n, '-1Ki'],
    [91_000_000_000n, '91000000'],
    [75_161_927_600n, '75161927600m'],
    [64n * 2n ** 20n * 1000n, '64Mi'],
  ];
  for (const [thousandths, text] of TEXTS) {
    it(`writes ${text}`, () => expect(formatBinaryThousandths(thousandths)).to.equal(text));
  }
});
