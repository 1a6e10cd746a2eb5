import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** The subject of a certificate; Kubernetes reads the common name as the user and organizations as groups. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

/** The contents of a certificate. */
export interface CertificateRequest {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  readonly validity: { readonly notBefore: Date; readonly notAfter: Date };
  /** The extended key usages; a CA certificate has none. */
  readonly usages?: readonly ('serverAuth' | 'clientAuth')[];
  /** DNS names and IPv4 addresses of the server. */
  readonly names?: readonly string[];
  readonly isCa?: boolean;
}

/** The signer's name and EC P-256 private key. */
interface Signer {
  readonly subject: Subject;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const COMMON_NAME = objectIdentifier('2.5.4.3');
const ORGANIZATION = objectIdentifier('2.5.4.10');
const USAGES = {
  serverAuth: objectIdentifier('1.3.6.1.5.5.7.3.1'),
  clientAuth: objectIdentifier('1.3.6.1.5.5.7.3.2'),
};
const EXTENSIONS = {
  subjectKeyIdentifier: objectIdentifier('2.5.29.14'),
  keyUsage: objectIdentifier('2.5.29.15'),
  subjectAltName: objectIdentifier('2.5.29.17'),
  basicConstraints: objectIdentifier('2.5.29.19'),
  authorityKeyIdentifier: objectIdentifier('2.5.29.35'),
  extKeyUsage: objectIdentifier('2.5.29.37'),
};
const ECDSA_WITH_SHA256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'));
const VERSION_3 = der(0xa0, integer(Buffer.of(2)));
const DIGITAL_SIGNATURE = bitString(Buffer.of(0x80), 7);
const KEY_CERT_SIGN = bitString(Buffer.of(0x04), 2);

/**
 * Issues an X.509 version 3 certificate (RFC 5280), signed with ECDSA and SHA-256, as PEM. Written as bytes rather than
 * from a model: thousands of kubelets need one each, and this takes an eighth of the time.
 */
export function issueCertificate(request: CertificateRequest, signer: Signer): string {
  const content = sequence(
    VERSION_3,
    serialNumber(),
    ECDSA_WITH_SHA256,
    nameOf(signer.subject),
    sequence(time(request.validity.notBefore), time(request.validity.notAfter)),
    nameOf(request.subject),
    publicKeyInfo(request.publicKey),
    der(0xa3, sequence(...extensionsOf(request, signer))),
  );
  const signature = sign('sha256', content, signer.privateKey);
  return pemOf(sequence(content, ECDSA_WITH_SHA256, bitString(signature)));
}

/** A random positive number: the first bit is the sign. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return integer(bytes);
}

function nameOf({ commonName, organizations = [] }: Subject): Buffer {
  const attribute = (type: Buffer, value: string) => setOf(sequence(type, utf8String(value)));
  const groups = organizations.map((organization) => attribute(ORGANIZATION, organization));
  return sequence(...groups, attribute(COMMON_NAME, commonName));
}

function extensionsOf(
  { isCa = false, names = [], publicKey, usages = [] }: CertificateRequest,
  signer: Signer,
): readonly Buffer[] {
  const { subjectKeyIdentifier, authorityKeyIdentifier, basicConstraints } = EXTENSIONS;
  const { keyUsage, extKeyUsage, subjectAltName } = EXTENSIONS;
  const extensions = [
    extension(basicConstraints, TRUE, sequence(...(isCa ? [TRUE] : []))),
    extension(keyUsage, TRUE, isCa ? KEY_CERT_SIGN : DIGITAL_SIGNATURE),
    extension(subjectKeyIdentifier, octetString(keyIdentifier(publicKey))),
    extension(authorityKeyIdentifier, sequence(der(0x80, keyIdentifier(signer.publicKey)))),
  ];
  if (usages.length > 0)
    extensions.push(extension(extKeyUsage, sequence(...usages.map((usage) => USAGES[usage]))));
  if (names.length > 0) extensions.push(extension(subjectAltName, sequence(...names.map(generalName))));
  return extensions;
}

/** @param parts whether it is critical, if so, and its value */
function extension(id: Buffer, ...parts: readonly Uint8Array[]): Buffer {
  const value = parts.at(-1) ?? Buffer.of();
  return sequence(id, ...parts.slice(0, -1), octetString(value));
}

function generalName(name: string): Buffer {
  return isIPv4(name)
    ? der(0x87, Buffer.from(name.split('.').map(Number)))
    : der(0x82, Buffer.from(name, 'latin1'));
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash('sha1').update(publicKeyInfo(publicKey)).digest();
}

// Most certificates of a cluster share a few keys, and OpenSSL is slow to export one.
const PUBLIC_KEY_INFOS = new WeakMap<KeyObject, Buffer>();

function publicKeyInfo(publicKey: KeyObject): Buffer {
  const cached = PUBLIC_KEY_INFOS.get(publicKey);
  if (cached) return cached;
  const info = publicKey.export({ type: 'spki', format: 'der' });
  PUBLIC_KEY_INFOS.set(publicKey, info);
  return info;
}

function pemOf(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** A value of any type: tag, length, contents. */
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const length = contents.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([Buffer.of(tag, ...lengthOctets(length)), ...contents]);
}

/** Values of any types, in this order. */
function sequence(...items: readonly Uint8Array[]): Buffer {
  return der(0x30, ...items);
}

/** Values of one type, in the order of their encodings. */
function setOf(...items: readonly Uint8Array[]): Buffer {
  return der(0x31, ...items);
}

/** @param bytes the minimal encoding of the number, of which the first bit is the sign */
function integer(bytes: Uint8Array): Buffer {
  return der(0x02, bytes);
}

function octetString(bytes: Uint8Array): Buffer {
  return der(0x04, bytes);
}

/** @param unusedBits number of unused bits in the last byte */
function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return der(0x03, Buffer.of(unusedBits), bytes);
}

function utf8String(text: string): Buffer {
  return der(0x0c, Buffer.from(text));
}

/** The value true; false is the default and is omitted. */
const TRUE: Uint8Array = der(0x01, Buffer.of(0xff));

/** @param dotted such as `2.5.4.3` */
function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

/** A time in whole seconds, in the type that RFC 5280 requires for its year. */
function time(date: Date): Buffer {
  const digits = date.toISOString().slice(0, 19).replaceAll(/\D/g, '');
  const isShort = date.getUTCFullYear() >= 1950 && date.getUTCFullYear() < 2050;
  return der(isShort ? 0x17 : 0x18, Buffer.from(`${isShort ? digits.slice(2) : digits}Z`));
}

function lengthOctets(length: number): readonly number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function base128(part: number): readonly number[] {
  const octets = [part & 0x7f];
  for (let left = Math.floor(part / 128); left > 0; left = Math.floor(left / 128))
    octets.unshift((left & 0x7f) | 0x80);
  return octets;
}
