import { expect } from 'chai';
import fc from 'fast-check';
import { Quantity } from '#lib/kubernetes/quantity.ts';
import { canonicalQuantity } from '#simulator/resources/quantity.ts';

describe('canonicalQuantity', () => {
  // make acceptance compares such values with a kube-apiserver.
  const CASES: readonly (readonly [value: unknown, canonical: string | undefined])[] = [
    [1, '1'],
    [0, '0'],
    [0.5, '500m'],
    [1.5, '1500m'],
    ['1', '1'],
    ['+1', '1'],
    ['1000m', '1'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['5.', '5'],
    ['1500m', '1500m'],
    ['1000', '1k'],
    ['1024', '1024'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['1000Ki', '1000Ki'],
    ['1e3', '1e3'],
    ['12e6', '12e6'],
    ['100e-3', '100e-3'],
    ['0.1n', '1n'],
    ['-1500m', '-1500m'],
    ['', undefined],
    ['.', undefined],
    ['1 Gi', undefined],
    ['1gi', undefined],
    ['one', undefined],
    [true, undefined],
    [null, undefined],
  ];
  for (const [value, canonical] of CASES)
    it(`returns ${canonical} for ${JSON.stringify(value)}`, () => {
      expect(canonicalQuantity(value)).to.equal(canonical);
    });

  it('agrees with the quantities of the programs', () => {
    const suffix = fc.constantFrom(
      '',
      'm',
      'u',
      'n',
      'k',
      'M',
      'G',
      'E',
      'Ki',
      'Mi',
      'Gi',
      'Ei',
      'e3',
      'e-2',
    );
    const text = fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.integer({ min: 0, max: 10 ** 9 }),
        fc.integer({ min: 0, max: 999 }),
        suffix,
      )
      .map(([sign, whole, fraction, unit]) => `${sign}${whole}.${fraction}${unit}`);
    fc.assert(
      fc.property(text, (quantity) => {
        expect(canonicalQuantity(quantity)).to.equal(Quantity.parse(quantity)?.toString());
      }),
    );
  });
});
