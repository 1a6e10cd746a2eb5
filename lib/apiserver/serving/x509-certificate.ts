import { type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

/** Contents of a certificate, and the key that signs it. */
interface CertificateContent {
  /** Common names. */
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  /** On P-256. */
  readonly issuerKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: readonly Extension[];
}

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';

/** Signs a certificate of version 3 (RFC 5280), as PEM. */
export function signCertificate(content: CertificateContent): string {
  const { notAfter, notBefore } = content;
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const signed = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber(),
    signature: algorithm,
    issuer: nameOf(content.issuer),
    validity: new Validity({ notBefore, notAfter }),
    subject: nameOf(content.subject),
    subjectPublicKeyInfo: AsnConvert.parse(
      content.publicKey.export({ type: 'spki', format: 'der' }),
      SubjectPublicKeyInfo,
    ),
    extensions: new Extensions([...content.extensions]),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(signed)), content.issuerKey);
  const certificate = new Certificate({
    tbsCertificate: signed,
    signatureAlgorithm: algorithm,
    signatureValue: toArrayBuffer(signature),
  });
  return toPem(Buffer.from(AsnConvert.serialize(certificate)));
}

/** Of an authority: it signs data and certificates. */
export function authorityExtensions(): readonly Extension[] {
  const flags = KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment | KeyUsageFlags.keyCertSign;
  return [
    critical(id_ce_keyUsage, new KeyUsage(flags)),
    critical(id_ce_basicConstraints, new BasicConstraints({ cA: true })),
  ];
}

/** Of a server with these DNS names and IP addresses. */
export function serverExtensions(names: readonly string[]): readonly Extension[] {
  const generalNames = names.map(
    (name) => new GeneralName(isIP(name) === 0 ? { dNSName: name } : { iPAddress: name }),
  );
  return [
    critical(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature)),
    extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
    critical(id_ce_basicConstraints, new BasicConstraints({ cA: false })),
    extension(id_ce_subjectAltName, new SubjectAlternativeName(generalNames)),
  ];
}

function extension(extnID: string, value: unknown): Extension {
  return new Extension({ extnID, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

/** An extension that verifiers must support, or refuse the certificate. */
function critical(extnID: string, value: unknown): Extension {
  return new Extension({ extnID, critical: true, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function nameOf(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
}

/** Random and positive: the first bit is the sign. */
function serialNumber(): ArrayBuffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return toArrayBuffer(bytes);
}

/** A copy: a small Buffer is a view of a larger one. */
function toArrayBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

function toPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
