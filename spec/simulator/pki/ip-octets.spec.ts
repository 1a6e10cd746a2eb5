import { expect } from 'chai';
import { ipOctets } from '#simulator/pki/ip-octets.ts';

describe('ipOctets', () => {
  for (const [text, hex] of [
    ['127.1.0.255', '7f0100ff'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['2001:db8::', '20010db8000000000000000000000000'],
    ['2001:DB8:0:0:1::ab', '20010db80000000000010000000000ab'],
    ['::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ] as const) {
    it(`reads ${text}`, () => expect(ipOctets(text)?.toString('hex')).to.equal(hex));
  }

  it('reads no names', () => {
    for (const text of ['node-1', '', '1.2.3', 'example.com']) expect(ipOctets(text)).to.equal(undefined);
  });
});
