import { expect } from 'chai';
import { Authenticator, serviceAccount } from '#simulator/access/authenticator.ts';

describe('Authenticator', () => {
  it('reads the user from the common name and groups from organizations', () => {
    const certificate = { commonName: 'alice', organizations: ['dev'], sha256: 'ab12' };
    expect(new Authenticator().authenticate({ certificate })).to.deep.equal({
      username: 'alice',
      groups: ['dev', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab12'] },
    });
  });

  it('authenticates tokens until they are revoked', () => {
    const authenticator = new Authenticator();
    authenticator.setToken('t', serviceAccount('kube-system', 'robot', 'uid-1'));
    expect(authenticator.authenticate({ bearerToken: 't' })).to.deep.include({
      username: 'system:serviceaccount:kube-system:robot',
      uid: 'uid-1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
    });
    authenticator.revokeToken('t');
    expect(authenticator.authenticate({ bearerToken: 't' })).to.equal(undefined);
  });

  it('authenticates no user without credentials', () => {
    expect(new Authenticator().authenticate({})).to.equal(undefined);
    expect(new Authenticator().authenticate({ hasInvalidCertificate: true })).to.equal(undefined);
  });
});
