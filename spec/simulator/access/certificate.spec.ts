import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import * as x509 from '@peculiar/asn1-x509';
import { expect } from 'chai';
import fc from 'fast-check';
import { issueCertificate } from '#simulator/access/certificate.ts';

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 64 });

const request = fc.record(
  {
    subject: fc.record({ commonName: name, organizations: fc.array(name, { maxLength: 3 }) }),
    validity: fc.record({ notBefore: yearsFrom(1951, 2100), notAfter: yearsFrom(1951, 2100) }),
    usages: fc.subarray(['serverAuth', 'clientAuth'] as const),
    names: fc.array(fc.oneof(fc.ipV4(), fc.domain()), { maxLength: 12 }),
    isCa: fc.boolean(),
  },
  { requiredKeys: ['subject', 'validity'] },
);

describe('issueCertificate', () => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const others = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  it('writes certificates that a reference implementation reads, and encodes to the same bytes', () => {
    fc.assert(
      fc.property(request, name, (requested, signer) => {
        const pem = issueCertificate(
          { ...requested, publicKey: others.publicKey },
          { subject: { commonName: signer }, ...keys },
        );
        const { raw, publicKey } = new X509Certificate(pem);
        const certificate = AsnConvert.parse(raw, x509.Certificate);
        const { tbsCertificate } = certificate;
        expect(Buffer.from(AsnConvert.serialize(certificate)).equals(raw)).to.equal(true);
        expect(new X509Certificate(pem).verify(keys.publicKey)).to.equal(true);
        expect(publicKey.equals(others.publicKey)).to.equal(true);
        expect(valuesOf(tbsCertificate.subject)).to.deep.equal([
          ...requested.subject.organizations,
          requested.subject.commonName,
        ]);
        expect(valuesOf(tbsCertificate.issuer)).to.deep.equal([signer]);
        expect(tbsCertificate.validity.notBefore.getTime()).to.deep.equal(requested.validity.notBefore);
        expect(tbsCertificate.validity.notAfter.getTime()).to.deep.equal(requested.validity.notAfter);
        expect(extensionsOf(tbsCertificate)).to.deep.equal(expectedExtensions(requested));
      }),
    );
  });
});

type Requested = typeof request extends fc.Arbitrary<infer T> ? T : never;

/** The requested extensions, in the reference's notation. */
function extensionsOf({ extensions = [] }: x509.TBSCertificate) {
  const find = <T>(id: string, type: new () => T): T | undefined => {
    const found = extensions.find(({ extnID }) => extnID === id);
    return found && AsnConvert.parse(found.extnValue, type);
  };
  return {
    isCa: find(x509.id_ce_basicConstraints, x509.BasicConstraints)?.cA,
    keyUsage: find(x509.id_ce_keyUsage, x509.KeyUsage)?.toNumber(),
    usages: [...(find(x509.id_ce_extKeyUsage, x509.ExtendedKeyUsage) ?? [])],
    names: [...(find(x509.id_ce_subjectAltName, x509.SubjectAlternativeName) ?? [])].map(
      ({ dNSName, iPAddress }) => dNSName ?? iPAddress,
    ),
    critical: extensions.filter(({ critical }) => critical).map(({ extnID }) => extnID),
  };
}

function expectedExtensions({ isCa = false, usages = [], names = [] }: Requested) {
  return {
    isCa,
    keyUsage: isCa ? x509.KeyUsageFlags.keyCertSign : x509.KeyUsageFlags.digitalSignature,
    usages: usages.map((usage) => (usage === 'serverAuth' ? x509.id_kp_serverAuth : x509.id_kp_clientAuth)),
    // The reference needs its own notation of addresses.
    names: names.map((one) => {
      const model = new x509.GeneralName(/^[\d.]+$/.test(one) ? { iPAddress: one } : { dNSName: one });
      const read = AsnConvert.parse(AsnConvert.serialize(model), x509.GeneralName);
      return read.dNSName ?? read.iPAddress;
    }),
    critical: [x509.id_ce_basicConstraints, x509.id_ce_keyUsage],
  };
}

function valuesOf(names: x509.Name): (string | undefined)[] {
  return [...names].flatMap((attributes) => [...attributes].map(({ value }) => value.utf8String));
}

function yearsFrom(from: number, to: number) {
  const seconds = fc.integer({ min: Date.UTC(from, 0) / 1000, max: Date.UTC(to, 0) / 1000 });
  return seconds.map((second) => new Date(second * 1000));
}
