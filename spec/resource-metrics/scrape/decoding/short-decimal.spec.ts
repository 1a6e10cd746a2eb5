import { expect } from 'chai';
import fc from 'fast-check';
import { ShortDecimal } from '#lib/resource-metrics/scrape/decoding/sample-reader.ts';

/** Returns the value and the remaining text; `undefined` if nothing was read. */
function read(text: string): { value: number; left: string } | undefined {
  const decimal = new ShortDecimal();
  if (!decimal.read(Buffer.from(`>${text}`), 1)) return undefined;
  return { value: decimal.value, left: text.slice(decimal.end - 1) };
}

describe('ShortDecimal', () => {
  for (const text of [
    '0',
    '7',
    '5.289110879',
    '2.5440256e+07',
    '1E-3',
    '12.',
    '9007199254740991',
    '1e22',
    '007',
    '0.1e1',
  ]) {
    it(`reads ${text}`, () => expect(read(`${text} 1`)).to.deep.equal({ value: Number(text), left: ' 1' }));
  }

  for (const text of [
    '',
    ' 1',
    '-1',
    '+1',
    '.5',
    'NaN',
    'e5',
    '1e',
    '1e+',
    '9007199254740993',
    '1e23',
    '1e-23',
    '1e999999999999',
  ]) {
    it(`leaves ${JSON.stringify(text)} to the full parser`, () => expect(read(text)).to.equal(undefined));
  }

  it('reads short numbers exactly as JavaScript does', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 9 });
    const exponent = fc.option(
      fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.nat(16)),
      { nil: undefined },
    );
    fc.assert(
      fc.property(digits, fc.option(digits, { nil: undefined }), exponent, (whole, fraction, power) => {
        const text = `${whole}${fraction === undefined ? '' : `.${fraction}`}${power?.join('') ?? ''}`;
        const result = read(text);
        if (result) expect(result).to.deep.equal({ value: Number(text), left: '' });
        else expect(Number(text) < 1 || `${whole}${fraction ?? ''}`.length > 15, text).to.equal(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('reads numbers printed by Go as JavaScript does, or leaves them to the full parser', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, noNaN: true }), (value) => {
        for (const text of [String(value), value.toExponential()]) {
          const result = read(text);
          if (result) expect(result.value).to.equal(Number(text));
        }
      }),
      { numRuns: 2000 },
    );
  });
});
