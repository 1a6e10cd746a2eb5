import { expect } from 'chai';
import fc from 'fast-check';
import { formatCpuNanocores, formatMemoryBytes } from '#lib/kubernetes/quantity.ts';

const VALUE_OF_SUFFIX: Readonly<Record<string, bigint>> = {
  n: 1n,
  u: 10n ** 3n,
  m: 10n ** 6n,
  '': 10n ** 9n,
  k: 10n ** 12n,
  M: 10n ** 15n,
};

/** Whole numbers over every magnitude, many of them round. */
const amounts = fc.oneof(
  fc.nat(),
  fc.maxSafeNat(),
  fc
    .tuple(fc.nat({ max: 5000 }), fc.constantFrom(1000, 1024), fc.nat({ max: 4 }))
    .map(([n, base, power]) => n * base ** power)
    .filter(Number.isSafeInteger),
);

describe('formatCpuNanocores', () => {
  const examples: readonly [number, string][] = [
    [0, '0'],
    [1, '1n'],
    [12_345_678, '12345678n'],
    [60_595_120, '60595120n'],
    [1_000, '1u'],
    [1_500_000, '1500u'],
    [50_000_000, '50m'],
    [1_000_000_000, '1'],
    [1_500_000_000, '1500m'],
    [2_000_000_000, '2'],
    [1_000_000_000_000, '1k'],
    [12.9, '12n'],
    [0.4, '0'],
  ];
  for (const [nanocores, text] of examples) {
    it(`writes ${nanocores} nanocores as ${text}`, () =>
      expect(formatCpuNanocores(nanocores)).to.equal(text));
  }

  it('loses nothing and never leaves a thousand that a suffix could hold', () => {
    fc.assert(
      fc.property(amounts, (nanocores) => {
        const [, mantissa = '', suffix = ''] = /^(\d+)([numkM]?)$/.exec(formatCpuNanocores(nanocores)) ?? [];
        expect(BigInt(mantissa) * (VALUE_OF_SUFFIX[suffix] ?? 0n)).to.equal(BigInt(nanocores));
        if (nanocores > 0) expect(mantissa.endsWith('000')).to.equal(false);
      }),
    );
  });
});

describe('formatMemoryBytes', () => {
  const examples: readonly [number, string][] = [
    [0, '0'],
    [1, '1'],
    [999, '999'],
    [1000, '1k'],
    [1023, '1023'],
    [1024, '1Ki'],
    [1025, '1025'],
    [2000, '2000'],
    [24_844 * 1024, '24844Ki'],
    [25 * 1024 ** 2, '25Mi'],
    [3 * 1024 ** 3, '3Gi'],
    [1024 ** 4, '1Ti'],
    [53_612_545, '53612545'],
  ];
  for (const [bytes, text] of examples) {
    it(`writes ${bytes} bytes as ${text}`, () => expect(formatMemoryBytes(bytes)).to.equal(text));
  }

  it('loses nothing and never leaves 1024 that a suffix could hold', () => {
    fc.assert(
      fc.property(
        amounts.filter((bytes) => bytes >= 1024),
        (bytes) => {
          const [, mantissa = '', suffix = ''] = /^(\d+)(|[KMGTPE]i)$/.exec(formatMemoryBytes(bytes)) ?? [];
          const power = BigInt(['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].indexOf(suffix));
          expect(BigInt(mantissa) * 1024n ** power).to.equal(BigInt(bytes));
          expect(BigInt(mantissa) % 1024n === 0n).to.equal(false);
        },
      ),
    );
  });
});
