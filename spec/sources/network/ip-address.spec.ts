import { expect } from 'chai';
import fc from 'fast-check';
import { isInRange, parseAddressRange, parseIpAddress } from '#lib/sources/network/ip-address.ts';

describe('parseIpAddress', () => {
  it('reads both families, whatever the notation', () => {
    expect(parseIpAddress('10.0.0.1')).to.deep.equal({ family: 4, value: 0x0a000001n });
    expect(parseIpAddress('::ffff:10.0.0.1')).to.deep.equal({ family: 6, value: 0xffff_0a000001n });
    expect(parseIpAddress('fe80::1%eth0')).to.deep.equal({ family: 6, value: (0xfe80n << 112n) | 1n });
    expect(parseIpAddress('::')).to.deep.equal({ family: 6, value: 0n });
  });

  it('returns every group of an IPv6 address', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const value = parseIpAddress(text)?.value ?? -1n;
        const groups = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 0xffffn);
        const again = groups.map((group) => group.toString(16)).join(':');
        expect(new URL(`http://[${again}]`).hostname).to.equal(new URL(`http://[${text}]`).hostname);
      }),
    );
  });

  it('rejects invalid addresses', () => {
    for (const text of ['', '10.0.0', '10.0.0.256', '0x7f.1', 'localhost', '[::1]', '1::2::3'])
      expect(parseIpAddress(text), text).to.equal(undefined);
  });
});

describe('parseAddressRange', () => {
  it('parses an address as a range of its own', () => {
    expect(parseAddressRange('::1')?.prefixLength).to.equal(128);
    expect(parseAddressRange('10.0.0.1')?.prefixLength).to.equal(32);
  });

  it('refuses invalid prefixes', () => {
    for (const text of [
      '10.0.0.0/33',
      '::/129',
      '10.0.0.0/',
      '10.0.0.0/-1',
      '10.0.0.0/8/8',
      'a/8',
      '/8',
      'fe80::%e/10',
    ])
      expect(parseAddressRange(text), text).to.equal(undefined);
  });
});

describe('isInRange', () => {
  it('compares the first bits, of the same family', () => {
    const condition = (range: string, text: string) => {
      const [parsed, address] = [parseAddressRange(range), parseIpAddress(text)];
      if (!parsed || !address) throw new Error(`${range} ${text}`);
      return isInRange(address, parsed);
    };
    expect(condition('10.0.0.0/8', '10.255.255.255')).to.equal(true);
    expect(condition('10.0.0.0/8', '11.0.0.0')).to.equal(false);
    expect(condition('0.0.0.0/0', '255.1.2.3')).to.equal(true);
    expect(condition('::/0', '10.0.0.1')).to.equal(false);
    expect(condition('fe80::/10', 'febf::1')).to.equal(true);
  });
});
