import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  Extension,
  Extensions,
  id_ce_basicConstraints,
  id_ce_keyUsage,
  KeyUsage,
  type KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

/** Content of a certificate that no compliant authority would issue. */
export interface OddCertificate {
  readonly subject: string;
  /** By default, the subject. */
  readonly issuer?: string;
  readonly publicKey: KeyObject;
  /** On P-256. */
  readonly signingKey: KeyObject;
  readonly hash?: 'sha1' | 'sha256';
  /** If absent, the certificate has no basic constraints. */
  readonly basicConstraints?: { readonly cA: boolean; readonly pathLenConstraint?: number };
  /** If absent, the certificate has no key usage. */
  readonly keyUsage?: KeyUsageFlags;
  /** Further critical extensions, in DER by identifier. */
  readonly critical?: Readonly<Record<string, Uint8Array>>;
}

const ECDSA = { sha1: '1.2.840.10045.4.1', sha256: '1.2.840.10045.4.3.2' };
const DAY_MS = 86_400_000;

/** Issues a certificate with only the requested content, without key identifiers, as PEM. */
export function issueOddCertificate(certificate: OddCertificate): string {
  const { subject, issuer = subject, publicKey, signingKey, hash = 'sha256' } = certificate;
  const { basicConstraints, keyUsage, critical = {} } = certificate;
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA[hash] });
  const serialNumber = randomBytes(8);
  serialNumber.writeUInt8(0x40, 0); // positive
  const extensions = new Extensions([]);
  if (basicConstraints)
    extensions.push(extension(id_ce_basicConstraints, new BasicConstraints(basicConstraints)));
  if (keyUsage !== undefined) extensions.push(extension(id_ce_keyUsage, new KeyUsage(keyUsage)));
  for (const [extnID, value] of Object.entries(critical)) {
    const extnValue = new OctetString(new Uint8Array(value));
    extensions.push(new Extension({ extnID, critical: true, extnValue }));
  }
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: arrayBuffer(serialNumber),
    signature: algorithm,
    issuer: nameOf(issuer),
    validity: new Validity({
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: new Date(Date.now() + DAY_MS),
    }),
    subject: nameOf(subject),
    subjectPublicKeyInfo: AsnConvert.parse(
      publicKey.export({ type: 'spki', format: 'der' }),
      SubjectPublicKeyInfo,
    ),
    ...(extensions.length > 0 && { extensions }),
  });
  const signature = sign(hash, Buffer.from(AsnConvert.serialize(tbsCertificate)), signingKey);
  const whole = new Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: arrayBuffer(signature),
  });
  const lines =
    Buffer.from(AsnConvert.serialize(whole))
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

export function ecKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** An RSA public key without a private one, which would take minutes to generate. */
export function rsaKeyOfBits(bits: number): KeyObject {
  const modulus = randomBytes(Math.ceil(bits / 8));
  modulus[0] = bits % 8 === 0 ? 0x80 : 1 << ((bits % 8) - 1);
  modulus[modulus.length - 1] = 1;
  return createPublicKey({
    key: { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' },
    format: 'jwk',
  });
}

function extension(extnID: string, value: unknown): Extension {
  return new Extension({ extnID, critical: true, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function nameOf(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: '2.5.4.3', value })])]);
}

function arrayBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
