import { expect } from 'chai';
import { parseCaBundle } from '#lib/apiserver/certificates/ca-bundle.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';

describe('parseCaBundle', () => {
  it('reads all certificates, whatever stands between them', () => {
    const [one, other] = [new TestAuthority('one').pem, new TestAuthority('other').pem];
    const { certificates } = parseCaBundle(`# the first\n${one}\n# the second\n${other}rest`);
    expect(certificates.map(({ subject }) => subject)).to.deep.equal(['CN=one', 'CN=other']);
  });

  it('refuses a text without any, and one with a broken one', () => {
    expect(() => parseCaBundle('')).to.throw('there is no certificate');
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(() => parseCaBundle(new TestAuthority('one').pem + broken)).to.throw('authority 2 of 2');
  });
});
