import { expect } from 'chai';
import fc from 'fast-check';
import {
  formatBinaryThousandths,
  formatThousandths,
  parseNanos,
  parseThousandths,
  QuantityError,
  roundedUp,
} from '#lib/kubernetes/exact-quantity.ts';

describe('parseNanos', () => {
  const NANOS: Readonly<Record<string, bigint>> = {
    '0': 0n,
    '1': 10n ** 9n,
    '+1': 10n ** 9n,
    '-1': -(10n ** 9n),
    '1.': 10n ** 9n,
    '.5': 5n * 10n ** 8n,
    '1n': 1n,
    '1u': 1000n,
    '100m': 10n ** 8n,
    '2k': 2n * 10n ** 12n,
    '9P': 9n * 10n ** 24n,
    '1E': 10n ** 27n,
    '1e3': 10n ** 12n,
    '1E3': 10n ** 12n,
    '15e-1': 15n * 10n ** 8n,
    '64Mi': 64n * 2n ** 20n * 10n ** 9n,
    '1.5Ki': 1536n * 10n ** 9n,
    '0.1n': 1n,
    '-0.1n': -1n,
    '0e999': 0n,
    '1e-999': 1n,
  };
  for (const [text, nanos] of Object.entries(NANOS)) {
    it(`reads ${text}`, () => expect(parseNanos(text)).to.equal(nanos));
  }

  for (const text of ['', '.', '-', 'm', '1 ', '1mm', '1ki', '1K', '0x1', '1e', '1,5', 'NaN']) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(() => parseNanos(text)).to.throw(QuantityError));
  }

  it('cuts what is beyond the greatest quantity, before it becomes large', () => {
    for (const text of ['1e400', '1e1000', '9223372036854775808']) {
      expect(parseNanos(text)).to.equal((2n ** 63n - 1n) * 10n ** 9n);
    }
    expect(() => parseNanos('9'.repeat(100_000))).to.throw(QuantityError, 'is no quantity');
  });
});

describe('parseThousandths', () => {
  it('rounds away from zero', () => {
    expect(parseThousandths('27000001n')).to.equal(28n);
    expect(parseThousandths('-27000001n')).to.equal(-28n);
    expect(parseThousandths('27m')).to.equal(27n);
  });

  it('refuses what 64 bits do not hold', () => {
    expect(parseThousandths('9223372036854775807m')).to.equal(2n ** 63n - 1n);
    expect(() => parseThousandths('9223372036854775808m')).to.throw(
      QuantityError,
      '"9223372036854775808m" has more thousandths than 64 bits count',
    );
    expect(() => parseThousandths('10P')).to.throw(QuantityError);
  });
});

describe('roundedUp', () => {
  it('is the quotient that is no nearer to zero', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n, max: 10n ** 9n }), (amount, divisor) => {
        const quotient = roundedUp(amount, divisor);
        const magnitude = (value: bigint) => (value < 0n ? -value : value);
        expect(magnitude(quotient * divisor) >= magnitude(amount)).to.equal(true);
        expect(magnitude(quotient * divisor) - magnitude(amount) < divisor).to.equal(true);
      }),
    );
  });
});

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
