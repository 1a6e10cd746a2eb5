import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';

describe('CertificateAuthority', () => {
  const authority = new CertificateAuthority('an-authority');
  const ca = new X509Certificate(authority.certificatePem);

  it('signs itself', () => {
    expect(ca.ca).to.equal(true);
    expect(ca.subject).to.equal('CN=an-authority');
    expect(ca.checkIssued(ca) && ca.verify(ca.publicKey)).to.equal(true);
  });

  it('issues certificates that name users and groups as Kubernetes does', () => {
    const issued = issue({ commonName: 'alice', organizations: ['dev', 'system:masters'] });
    expect(issued.subject.split('\n')).to.deep.equal(['O=dev', 'O=system:masters', 'CN=alice']);
    expect(issued.issuer).to.equal('CN=an-authority');
    expect(issued.ca).to.equal(false);
    expect(issued.checkIssued(ca) && issued.verify(ca.publicKey)).to.equal(true);
  });

  it("contains the server's names", () => {
    const issued = issue({ commonName: 'node' }, ['127.1.2.3', 'node-1', 'node-1.example']);
    expect(issued.checkIP('127.1.2.3')).to.equal('127.1.2.3');
    expect(issued.checkIP('127.1.2.4')).to.equal(undefined);
    expect(issued.checkHost('node-1.example')).to.equal('node-1.example');
    expect(issued.keyUsage).to.deep.equal(['1.3.6.1.5.5.7.3.1']);
  });

  it('issues for a time that has passed, too', () => {
    const validity = {
      notBefore: new Date('2020-01-02T03:04:05Z'),
      notAfter: new Date('2051-01-02T03:04:05Z'),
    };
    const { certificatePem } = authority.issue({ subject: { commonName: 'old' }, validity });
    const issued = new X509Certificate(certificatePem);
    expect(issued.validFromDate).to.deep.equal(validity.notBefore);
    expect(issued.validToDate).to.deep.equal(validity.notAfter);
  });

  it('gives every certificate a serial number and a key of its own', () => {
    const [one, other] = [issue({ commonName: 'a' }), issue({ commonName: 'a' })];
    expect(one.serialNumber).not.to.equal(other.serialNumber);
    expect(one.publicKey.equals(other.publicKey)).to.equal(false);
  });

  function issue(subject: { commonName: string; organizations?: string[] }, names: string[] = []) {
    const issued = authority.issue({ subject, names, usages: ['serverAuth'] });
    const certificate = new X509Certificate(issued.certificatePem);
    expect(issued.privateKeyPem).to.match(/^-----BEGIN PRIVATE KEY-----/);
    return certificate;
  }
});
