import { expect } from 'chai';
import { libraryQuantity } from './library-quantity.ts';

describe('libraryQuantity', () => {
  it('writes short numbers that seem to be canonical unchanged', () => {
    for (const text of [
      '0',
      '+5',
      '-3',
      '00012',
      '5.',
      '1E6',
      '12e-3',
      '1e30',
      '5k',
      '1Ki',
      '7Mi',
      '123456789n',
    ])
      expect(libraryQuantity(text)).to.equal(text);
  });

  it('writes others with the greatest suffix that leaves an integer', () => {
    const written = {
      ...{
        '1000': '1k',
        '1.10': '1100m',
        '-0.5': '-500m',
        '1000m': '1',
        '0.001k': '1',
        '.5': '500m',
        '0m': '0',
      },
      ...{
        '1.5e3': '1500',
        '1e40': '10e39',
        '-3e-10': '-1e-9',
        '0.0000000001': '1n',
        '0.1234567891': '123456790n',
      },
      ...{
        '1024Ki': '1Mi',
        '0.1Ki': '102400m',
        '1.0001Ki': '1024102400u',
        '00.50Ki': '512',
        '0.5Gi': '512Mi',
      },
    };
    for (const [text, expected] of Object.entries(written))
      expect(libraryQuantity(text), text).to.equal(expected);
  });

  it('limits only binary numbers', () => {
    expect(libraryQuantity('8Ei')).to.equal('9223372036854775807');
    expect(libraryQuantity('-16Ei')).to.equal('-9223372036854775807');
    expect(libraryQuantity('12345678901234567890123')).to.equal('12345678901234567890123');
    expect(libraryQuantity('-9223372036854775808')).to.equal('-9223372036854775808');
  });

  it('refuses an invalid quantity', () => {
    for (const text of ['', '.', '1x', 'k', '1 k', '--1'])
      expect(() => libraryQuantity(text), text).to.throw();
  });
});
