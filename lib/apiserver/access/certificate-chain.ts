import { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  id_ce_basicConstraints,
  id_ce_certificatePolicies,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
} from '@peculiar/asn1-x509';
import { memoizeByObject } from '#lib/cache/memoize.ts';

/** Trusted certificate authorities at one moment. */
export interface CaBundle {
  readonly certificates: readonly X509Certificate[];
}

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** The marker of the last one may itself be truncated. */
const BEGINNING = /-----B(?:EGIN CERTIFICATE-----|[A-Z ]*$)/g;

/**
 * Parses authorities from PEM; text between the certificates is allowed.
 *
 * @throws when there is none, one cannot be parsed, or one is truncated, as in a file that is being written
 */
export function parseCaBundle(pem: string): CaBundle {
  const blocks = pem.match(PEM_BLOCK) ?? [];
  if (blocks.length === 0) throw new Error('Cannot read certificate authorities: no certificate found');
  const begun = pem.match(BEGINNING)?.length ?? 0;
  if (begun !== blocks.length)
    throw new Error(
      `Cannot read certificate authorities: ${begun - blocks.length} of ${begun} certificates are truncated`,
    );
  return {
    certificates: blocks.map((block, index) => {
      try {
        return new X509Certificate(block);
      } catch (cause) {
        throw new Error(`Cannot read certificate authority ${index + 1} of ${blocks.length}`, { cause });
      }
    }),
  };
}

/** Real ones have 1 to 4 KiB; one that lists its user's hundreds of groups may have 10. */
const MAX_CERTIFICATE_BYTES = 16 * 1024;

/** Those in use have up to about 20 bytes. */
const MAX_IDENTIFIER_BYTES = 64;

/** A serial number has 20 bytes, a parameter of a key some hundreds. */
const MAX_INTEGER_BYTES = 2 * 1024;

const [INTEGER, OBJECT_IDENTIFIER] = [0x02, 0x06];
const CONSTRUCTED = 0x20;
const LONG_FORM = 0x80;
/** The tag's number follows in separate bytes, which no field of a certificate uses. */
const LONG_TAG = 0x1f;

/**
 * Refuses what would take long to decode: writing identifiers and numbers as text takes quadratic time.
 *
 * @param der a value in DER with all nested values; the bytes of an extension are checked separately
 * @throws with the bound that is exceeded
 */
export function refuseExcessive(der: Uint8Array, maxBytes: number = MAX_CERTIFICATE_BYTES): void {
  if (der.length > maxBytes) throw new Error(`certificate has more than ${maxBytes} bytes`);
  for (let position = 0; position < der.length; ) {
    const tag = der[position] ?? 0;
    if ((tag & LONG_TAG) === LONG_TAG) throw new Error('certificate has an unsupported tag');
    const { start, length } = contentAt(der, position + 1);
    if (tag === OBJECT_IDENTIFIER && length > MAX_IDENTIFIER_BYTES)
      throw new Error(`certificate has an object identifier of more than ${MAX_IDENTIFIER_BYTES} bytes`);
    if (tag === INTEGER && length > MAX_INTEGER_BYTES)
      throw new Error(`certificate has an integer of more than ${MAX_INTEGER_BYTES} bytes`);
    position = (tag & CONSTRUCTED) === 0 ? start + length : start;
  }
}

/** @param position of the length */
function contentAt(der: Uint8Array, position: number): { readonly start: number; readonly length: number } {
  const first = der[position] ?? 0;
  if (first < LONG_FORM) return { start: position + 1, length: first };
  const bytes = first - LONG_FORM;
  if (bytes === 0 || bytes > 4) throw new Error('certificate has a length that is not valid DER');
  let length = 0;
  for (let index = 1; index <= bytes; index++) length = length * 256 + (der[position + index] ?? 0);
  return { start: position + 1 + bytes, length };
}

/** Of those that are decoded: enough for a hundred key usages. */
const MAX_EXTENSION_BYTES = 1024;

/** Constraints of a certificate that Node does not expose (RFC 5280, section 4.2). */
interface CertificateConstraints {
  /** Algorithm of its signature, as a dotted OID. */
  readonly signatureAlgorithm: string;
  /** Maximum number of intermediates between it and a leaf; `undefined` for no maximum. */
  readonly pathLength: number | undefined;
  /** Purposes as dotted OIDs; `undefined` where all are allowed. */
  readonly extendedKeyUsages: readonly string[] | undefined;
  readonly hasAlternativeNames: boolean;
  /** Whether it is an authority for some names only. */
  readonly hasNameConstraints: boolean;
  /** Critical extensions that this verifier does not support; a certificate with any must be refused. */
  readonly unknownCritical: readonly string[];
}

const UNDERSTOOD: readonly string[] = [
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_subjectAltName,
  id_ce_nameConstraints,
  id_ce_keyUsage, // enforced by checkIssued
  id_ce_certificatePolicies, // restricts nothing where no policy is required
];

/** @throws when the certificate does not have the structure of RFC 5280 */
export const constraintsOf = memoizeByObject(({ raw }: { readonly raw: Uint8Array }) => read(raw));

function read(raw: Uint8Array): CertificateConstraints {
  refuseExcessive(raw);
  const { tbsCertificate, signatureAlgorithm } = AsnConvert.parse(raw, Certificate);
  const extensions = tbsCertificate.extensions ?? [];
  const find = (id: string) => extensions.find(({ extnID }) => extnID === id)?.extnValue;
  const [basic, usages] = [find(id_ce_basicConstraints), find(id_ce_extKeyUsage)];
  for (const value of [basic, usages]) {
    if (value) refuseExcessive(new Uint8Array(value.buffer), MAX_EXTENSION_BYTES);
  }
  return {
    signatureAlgorithm: signatureAlgorithm.algorithm,
    pathLength: basic && AsnConvert.parse(basic, BasicConstraints).pathLenConstraint,
    extendedKeyUsages: usages && [...AsnConvert.parse(usages, ExtendedKeyUsage)],
    hasAlternativeNames: find(id_ce_subjectAltName) !== undefined,
    hasNameConstraints: find(id_ce_nameConstraints) !== undefined,
    unknownCritical: extensions
      .filter(({ extnID, critical }) => critical && !UNDERSTOOD.includes(extnID))
      .map(({ extnID }) => extnID),
  };
}

/** Validity of a chain, by the wall clock. */
export interface ChainValidity {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Extended key usage of client certificates. */
export const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2';

const ANY_USAGE = '2.5.29.37.0';

/** Signatures by MD5 or SHA-1 are insecure; Go refuses them, too. */
const BROKEN_ALGORITHMS = [
  '1.2.840.113549.1.1.2', // md2WithRSA
  '1.2.840.113549.1.1.4', // md5WithRSA
  '1.2.840.113549.1.1.5', // sha1WithRSA
  '1.2.840.10040.4.3', // dsaWithSha1
  '1.2.840.10045.4.1', // ecdsaWithSha1
  '1.3.14.3.2.29', // sha1WithRSASignature
];

/** Bounds the work for a client that sends many certificates that nearly match. */
const MAX_SIGNATURE_CHECKS = 50;

/** Checking a signature takes quadratic time in the key's length; Go refuses longer keys, too. */
const MAX_RSA_KEY_BITS = 8_192;

/**
 * Finds a chain from a leaf to a trusted authority for one purpose: every certificate is within its validity, is signed
 * by the next one, which is an authority that allows this path length, and permits the purpose (RFC 5280, section 6, to
 * the extent of Go's `x509.Verify`).
 *
 * @param chain the leaf, then what else the peer sent, in any order
 * @returns the validity of the chain
 * @throws when there is no such chain, with the reason
 */
export function verifyChain(
  chain: readonly X509Certificate[],
  options: { readonly authorities: CaBundle; readonly usage: string; readonly nowMs: number },
): ChainValidity {
  const [leaf, ...intermediates] = chain;
  if (!leaf) throw new Error('no certificate was sent');
  if (chain.some(isKeyTooLong)) {
    throw new Error(`certificate has an RSA key of more than ${MAX_RSA_KEY_BITS} bits`);
  }
  return new PathSearch(intermediates, options).to(leaf);
}

function isKeyTooLong({ publicKey }: X509Certificate): boolean {
  return (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) > MAX_RSA_KEY_BITS;
}

/**
 * Searches from the authorities down, so that only keys of an authority, or of a certificate that one has signed, check
 * signatures: an attacker may send certificates with keys that take 20 ms each.
 */
class PathSearch {
  readonly #intermediates: readonly X509Certificate[];
  readonly #authorities: CaBundle;
  readonly #usage: string;
  readonly #nowMs: number;
  #checksLeft = MAX_SIGNATURE_CHECKS;
  #error: string | undefined;

  constructor(
    intermediates: readonly X509Certificate[],
    options: { readonly authorities: CaBundle; readonly usage: string; readonly nowMs: number },
  ) {
    this.#intermediates = intermediates.filter(({ ca }) => ca);
    this.#authorities = options.authorities;
    this.#usage = options.usage;
    this.#nowMs = options.nowMs;
  }

  to(leaf: X509Certificate): ChainValidity {
    for (const authority of this.#authorities.certificates) {
      const isItself = authority.raw.equals(leaf.raw);
      const validity = isItself ? this.#validityOf([leaf]) : this.#extend([authority], leaf);
      if (validity) return validity;
    }
    throw new Error(this.#error ?? 'certificate signed by unknown authority');
  }

  /**
   * The validity of the first valid chain to a leaf; `undefined` when there is none.
   *
   * @param path the verified certificates, from the authority down
   */
  #extend(
    path: readonly [X509Certificate, ...X509Certificate[]],
    leaf: X509Certificate,
  ): ChainValidity | undefined {
    const [issuer] = path;
    const validity = this.#issued(issuer, leaf) && this.#validityOf([leaf, ...path]);
    if (validity) return validity;
    for (const intermediate of this.#intermediates) {
      if (path.some(({ raw }) => raw.equals(intermediate.raw)) || !this.#issued(issuer, intermediate))
        continue;
      const validityBelow = this.#extend([intermediate, ...path], leaf);
      if (validityBelow) return validityBelow;
    }
    return undefined;
  }

  #issued(issuer: X509Certificate, subject: X509Certificate): boolean {
    if (!subject.checkIssued(issuer) || this.#checksLeft-- <= 0) return false;
    return subject.verify(issuer.publicKey);
  }

  /** `undefined` where the certificate is not valid in this position; the reason is recorded for the error. */
  #validityOf(path: readonly X509Certificate[]): ChainValidity | undefined {
    for (const index of path.keys()) {
      const error = errorAtEnd(path.slice(0, index + 1), this.#usage, this.#nowMs);
      this.#error ??= error;
      if (error !== undefined) return undefined;
    }
    return validityOf(path);
  }
}

function errorAtEnd(path: readonly X509Certificate[], usage: string, nowMs: number): string | undefined {
  const certificate = path.at(-1);
  if (!certificate) return undefined;
  if (nowMs < certificate.validFromDate.getTime()) return 'certificate is not yet valid';
  if (nowMs > certificate.validToDate.getTime()) return 'certificate has expired';
  const constraints = constraintsOf(certificate);
  if (!permits(constraints, usage)) return 'certificate specifies an incompatible key usage';
  const [unknown] = constraints.unknownCritical;
  if (unknown) return `certificate has an unsupported critical extension: ${unknown}`;
  if (path.length === 1) return undefined;
  return authorityError(certificate, constraints, path.slice(0, -1));
}

function authorityError(
  authority: X509Certificate,
  { pathLength, hasNameConstraints }: CertificateConstraints,
  below: readonly X509Certificate[],
): string | undefined {
  if (!authority.ca) return 'certificate is signed by a certificate that is not that of a CA';
  if (pathLength !== undefined && below.length - 1 > pathLength) return 'too many intermediates';
  const signed = below.map(constraintsOf);
  if (signed.some(({ signatureAlgorithm }) => BROKEN_ALGORITHMS.includes(signatureAlgorithm))) {
    return 'certificate is signed by an insecure algorithm';
  }
  // Names are not compared: whatever constraints could exclude is refused.
  const isConstrained = hasNameConstraints && signed.some(({ hasAlternativeNames }) => hasAlternativeNames);
  return isConstrained
    ? 'authority has name constraints, which are not supported for certificates with alternative names'
    : undefined;
}

function permits({ extendedKeyUsages }: CertificateConstraints, usage: string): boolean {
  return (
    extendedKeyUsages === undefined ||
    extendedKeyUsages.includes(usage) ||
    extendedKeyUsages.includes(ANY_USAGE)
  );
}

function validityOf(path: readonly X509Certificate[]): ChainValidity {
  return {
    fromMs: Math.max(...path.map(({ validFromDate }) => validFromDate.getTime())),
    toMs: Math.min(...path.map(({ validToDate }) => validToDate.getTime())),
  };
}
