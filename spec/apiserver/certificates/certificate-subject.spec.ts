import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { commonNameOf, organizationsOf } from '#lib/apiserver/certificates/certificate-subject.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';

describe('commonNameOf and organizationsOf', () => {
  const authority = new TestAuthority('users');
  const certificateOf = (subject: { commonName: string; organizations?: readonly string[] }) =>
    new X509Certificate(authority.leaf({ subject }).cert);

  it('tell who a certificate names, and in which groups', () => {
    for (const organizations of [['a'], ['a', 'system:masters', 'b']]) {
      const certificate = certificateOf({ commonName: 'alice', organizations });
      for (let time = 0; time < 2; time++) {
        expect(commonNameOf(certificate)).to.equal('alice');
        expect(organizationsOf(certificate)).to.deep.equal(organizations);
      }
    }
  });

  it('tell no groups where there are none, and of each certificate its own', () => {
    const [alice, bob] = [certificateOf({ commonName: 'alice' }), certificateOf({ commonName: 'bob' })];
    expect([alice, bob, alice].map(commonNameOf)).to.deep.equal(['alice', 'bob', 'alice']);
    expect(organizationsOf(alice)).to.deep.equal([]);
  });

  it('tell no name where the subject has none of a sort', () => {
    const unnamed = { toLegacyObject: () => ({ subject: { O: 'a' } }) } as unknown as X509Certificate;
    expect(commonNameOf(unnamed)).to.equal('');
    expect(organizationsOf(unnamed)).to.deep.equal(['a']);
    const several = { toLegacyObject: () => ({ subject: { CN: ['a', 'b'] } }) } as unknown as X509Certificate;
    expect(commonNameOf(several)).to.equal('b');
  });
});
