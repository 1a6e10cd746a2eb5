import { expect } from 'chai';
import { refuseExcessive } from '#lib/apiserver/access/certificate-chain.ts';
import { DER_TAGS, der } from '#spec/support/hostile-certificates.ts';

const { identifier, integer, octets, sequence } = DER_TAGS;
const within = (bytes: readonly number[] | Uint8Array) => () => refuseExcessive(Uint8Array.from(bytes));
const of = (tag: number, length: number) => der(tag, Buffer.alloc(length));

describe('refuseExcessive', () => {
  it('accepts up to the given number of bytes, and 16 KiB by default', () => {
    const value = of(octets, 100);
    expect(() => refuseExcessive(value, value.length)).not.to.throw();
    expect(() => refuseExcessive(value, value.length - 1)).to.throw('certificate has more than 101 bytes');
    const max = of(octets, 16 * 1024 - 4);
    expect(within(max)).not.to.throw();
    expect(within([...max, 0])).to.throw('certificate has more than 16384 bytes');
  });

  for (const [what, tag, maximum] of [
    ['an object identifier', identifier, 64],
    ['an integer', integer, 2048],
  ] as const) {
    it(`accepts ${what} of up to ${maximum} bytes at any position`, () => {
      for (const behind of [0, 127, 128, 300, 5_000]) {
        const nested = (length: number) => der(sequence, of(octets, behind), der(sequence, of(tag, length)));
        expect(within(nested(maximum)), `${behind}`).not.to.throw();
        expect(within(nested(maximum + 1)), `${behind}`).to.throw(
          `certificate has ${what} of more than ${maximum} bytes`,
        );
      }
    });
  }

  it('does not descend into primitive values', () => {
    expect(within(der(octets, of(integer, 3_000)))).not.to.throw();
  });

  it('refuses tags that go on in bytes of their own', () => {
    for (const tag of [0x1f, 0x3f, 0xbf])
      expect(within([tag, 0x01, 0])).to.throw('certificate has an unsupported tag');
  });

  it('accepts lengths of one to four bytes, and no others', () => {
    for (const length of [[0], [0x81, 0], [0x82, 0, 0], [0x83, 0, 0, 0], [0x84, 0, 0, 0, 0]])
      expect(within([octets, ...length]), `${length}`).not.to.throw();
    for (const length of [[0x80, 0, 0], [0x85, 0, 0, 0, 0, 0], [0xff]])
      expect(within([octets, ...length]), `${length}`).to.throw(
        'certificate has a length that is not valid DER',
      );
  });
});
