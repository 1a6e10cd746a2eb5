import { expect } from 'chai';
import { parseCaBundle } from '#lib/apiserver/access/certificate-chain.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';

describe('parseCaBundle', () => {
  it('reads all certificates, whatever text is between them', () => {
    const [one, other] = [new TestAuthority('one').pem, new TestAuthority('other').pem];
    const { certificates } = parseCaBundle(`# the first\n${one}\n# the second\n${other}rest`);
    expect(certificates.map(({ subject }) => subject)).to.deep.equal(['CN=one', 'CN=other']);
  });

  it('refuses a text without any, and one with a broken one', () => {
    expect(() => parseCaBundle('')).to.throw('no certificate found');
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(() => parseCaBundle(new TestAuthority('one').pem + broken)).to.throw('authority 2 of 2');
  });

  it('refuses a text that ends in the middle of an authority, as while it is being written', () => {
    const [one, other] = [new TestAuthority('one').pem, new TestAuthority('other').pem];
    const both = `${one}${other}`;
    for (const end of [one.length + 10, one.length + 30, one.length + other.length / 2, both.length - 10])
      expect(() => parseCaBundle(both.slice(0, end)), `cut off at ${end}`).to.throw(
        '1 of 2 certificates are truncated',
      );
    const withoutItsEnd = one.replace(/-----END.*/, '');
    expect(() => parseCaBundle(withoutItsEnd + other)).to.throw('1 of 2 certificates are truncated');
    expect(parseCaBundle(one.trim() + other).certificates).to.have.length(2); // all of them nonetheless
  });
});
