import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import * as x509 from '@peculiar/asn1-x509';

/** Who a certificate is about; Kubernetes reads the common name as the user and organizations as groups. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

/** What a certificate says. */
export interface CertificateRequest {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  readonly validity: { readonly notBefore: Date; readonly notAfter: Date };
  /** What it may be used for; a CA certificate has none of these. */
  readonly usages?: readonly ('serverAuth' | 'clientAuth')[];
  /** DNS names and IP addresses that a server answers to. */
  readonly names?: readonly string[];
  readonly isCa?: boolean;
}

/** Who signs: its name and an EC P-256 private key. */
export interface Signer {
  readonly subject: Subject;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const USAGES = { serverAuth: x509.id_kp_serverAuth, clientAuth: x509.id_kp_clientAuth } as const;

/** Issues an X.509 version 3 certificate (RFC 5280), signed with ECDSA and SHA-256, as PEM. */
export function issueCertificate(request: CertificateRequest, signer: Signer): string {
  const algorithm = new x509.AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const content = new x509.TBSCertificate({
    version: x509.Version.v3,
    serialNumber: serialNumber(),
    signature: algorithm,
    issuer: nameOf(signer.subject),
    validity: new x509.Validity(request.validity),
    subject: nameOf(request.subject),
    subjectPublicKeyInfo: AsnConvert.parse(publicKeyInfo(request.publicKey), x509.SubjectPublicKeyInfo),
    extensions: new x509.Extensions(extensionsOf(request, signer)),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(content)), signer.privateKey);
  const certificate = new x509.Certificate({
    tbsCertificate: content,
    signatureAlgorithm: algorithm,
    signatureValue: toArrayBuffer(signature),
  });
  return pemOf(Buffer.from(AsnConvert.serialize(certificate)));
}

/** Random and positive: the first bit is the sign. */
function serialNumber(): ArrayBuffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return toArrayBuffer(bytes);
}

function nameOf({ commonName, organizations = [] }: Subject): x509.Name {
  const attribute = (type: string, utf8String: string) =>
    new x509.RelativeDistinguishedName([
      new x509.AttributeTypeAndValue({ type, value: new x509.AttributeValue({ utf8String }) }),
    ]);
  const groups = organizations.map((organization) => attribute(ORGANIZATION, organization));
  return new x509.Name([...groups, attribute(COMMON_NAME, commonName)]);
}

function extensionsOf(
  { isCa = false, names, publicKey, usages }: CertificateRequest,
  signer: Signer,
): x509.Extension[] {
  const flags = isCa ? x509.KeyUsageFlags.keyCertSign : x509.KeyUsageFlags.digitalSignature;
  const extensions = [
    extension(x509.id_ce_basicConstraints, new x509.BasicConstraints({ cA: isCa }), { critical: true }),
    extension(x509.id_ce_keyUsage, new x509.KeyUsage(flags), { critical: true }),
    extension(x509.id_ce_subjectKeyIdentifier, new x509.SubjectKeyIdentifier(keyIdentifier(publicKey))),
    extension(
      x509.id_ce_authorityKeyIdentifier,
      new x509.AuthorityKeyIdentifier({
        keyIdentifier: new x509.KeyIdentifier(keyIdentifier(signer.publicKey)),
      }),
    ),
  ];
  if (usages?.length) {
    extensions.push(
      extension(x509.id_ce_extKeyUsage, new x509.ExtendedKeyUsage(usages.map((usage) => USAGES[usage]))),
    );
  }
  if (names?.length) {
    extensions.push(
      extension(x509.id_ce_subjectAltName, new x509.SubjectAlternativeName(names.map(generalName))),
    );
  }
  return extensions;
}

function extension(extnID: string, value: unknown, { critical = false } = {}): x509.Extension {
  return new x509.Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function generalName(name: string): x509.GeneralName {
  return isIP(name) === 0
    ? new x509.GeneralName({ dNSName: name })
    : new x509.GeneralName({ iPAddress: name });
}

function keyIdentifier(publicKey: KeyObject): ArrayBuffer {
  return toArrayBuffer(createHash('sha1').update(publicKeyInfo(publicKey)).digest());
}

function publicKeyInfo(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' });
}

/** Of its own: a small Buffer is a part of a larger one. */
function toArrayBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

function pemOf(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
