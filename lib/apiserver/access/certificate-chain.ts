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

/** Certificate authorities that are believed, as of one moment. */
export interface CaBundle {
  readonly certificates: readonly X509Certificate[];
}

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** That of a last one may be cut off itself. */
const BEGINNING = /-----B(?:EGIN CERTIFICATE-----|[A-Z ]*$)/g;

/**
 * Reads authorities from PEM; text between the certificates is allowed.
 *
 * @throws when there is none, one cannot be read, or one has no end, as in a file that is being written
 */
export function parseCaBundle(pem: string): CaBundle {
  const blocks = pem.match(PEM_BLOCK) ?? [];
  if (blocks.length === 0) throw new Error('Cannot read certificate authorities: there is no certificate');
  const begun = pem.match(BEGINNING)?.length ?? 0;
  if (begun !== blocks.length)
    throw new Error(
      `Cannot read certificate authorities: of ${begun} that begin, ${blocks.length} have an end`,
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

/** Real ones have 1 to 4 KiB; one that names its user in hundreds of groups may have 10. */
const MAX_CERTIFICATE_BYTES = 16 * 1024;

/** Those in use have up to some 20 bytes. */
const MAX_IDENTIFIER_BYTES = 64;

/** A serial number has 20 bytes, a parameter of a key some hundreds. */
const MAX_INTEGER_BYTES = 2 * 1024;

const [INTEGER, OBJECT_IDENTIFIER] = [0x02, 0x06];
const CONSTRUCTED = 0x20;
const LONG_FORM = 0x80;
/** The tag's number follows in bytes of its own, which nothing in a certificate needs. */
const LONG_TAG = 0x1f;

/**
 * Refuses what would take long to decode: texts of identifiers and numbers take the square of their length to write.
 *
 * @param der a value in DER, with all that lies in it; of an extension the value is bytes, and is looked at by itself
 * @throws saying what goes past its bound
 */
export function refuseExcessive(der: Uint8Array, maxBytes: number = MAX_CERTIFICATE_BYTES): void {
  if (der.length > maxBytes) throw new Error(`certificate has more than ${maxBytes} bytes`);
  for (let position = 0; position < der.length; ) {
    const tag = der[position] ?? 0;
    if ((tag & LONG_TAG) === LONG_TAG) throw new Error('certificate has a tag that no certificate has');
    const { start, length } = contentAt(der, position + 1);
    if (tag === OBJECT_IDENTIFIER && length > MAX_IDENTIFIER_BYTES)
      throw new Error('certificate has an object identifier that is too long');
    if (tag === INTEGER && length > MAX_INTEGER_BYTES)
      throw new Error('certificate has an integer that is too long');
    position = (tag & CONSTRUCTED) === 0 ? start + length : start;
  }
}

/** @param position of the length */
function contentAt(der: Uint8Array, position: number): { readonly start: number; readonly length: number } {
  const first = der[position] ?? 0;
  if (first < LONG_FORM) return { start: position + 1, length: first };
  const bytes = first - LONG_FORM;
  if (bytes === 0 || bytes > 4) throw new Error('certificate has a length that DER does not know');
  let length = 0;
  for (let index = 1; index <= bytes; index++) length = length * 256 + (der[position + index] ?? 0);
  return { start: position + 1 + bytes, length };
}

/** Of those that are decoded: a hundred usages. */
const MAX_EXTENSION_BYTES = 1024;

/** What a certificate restricts and Node does not tell of it (RFC 5280, section 4.2). */
interface CertificateConstraints {
  /** Algorithm of the signature on it, with dots. */
  readonly signatureAlgorithm: string;
  /** How many intermediates may stand between it and a leaf; `undefined` for any number. */
  readonly pathLength: number | undefined;
  /** Purposes, with dots; `undefined` where every one is allowed. */
  readonly extendedKeyUsages: readonly string[] | undefined;
  readonly hasAlternativeNames: boolean;
  /** Whether it, as an authority, signs for some names only. */
  readonly hasNameConstraints: boolean;
  /** Extensions for which a verifier that does not understand them must refuse the certificate. */
  readonly unknownCritical: readonly string[];
}

const UNDERSTOOD: readonly string[] = [
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_subjectAltName,
  id_ce_nameConstraints,
  id_ce_keyUsage, // enforced by checkIssued
  id_ce_certificatePolicies, // restricts nothing where no policy is asked for
];

/** @throws when the certificate is laid out otherwise than RFC 5280 says */
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

/** For how long a chain is good, by the wall clock. */
export interface ChainValidity {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The purpose of certificates that clients show. */
export const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2';

const ANY_USAGE = '2.5.29.37.0';

/** Signatures by MD5 or SHA-1 prove nothing any more; Go refuses them, too. */
const BROKEN_ALGORITHMS = [
  '1.2.840.113549.1.1.2', // md2WithRSA
  '1.2.840.113549.1.1.4', // md5WithRSA
  '1.2.840.113549.1.1.5', // sha1WithRSA
  '1.2.840.10040.4.3', // dsaWithSha1
  '1.2.840.10045.4.1', // ecdsaWithSha1
  '1.3.14.3.2.29', // sha1WithRSASignature
];

/** A client may send any number of certificates that nearly fit: none makes us work for longer than this. */
const MAX_SIGNATURE_CHECKS = 50;

/** Checking a signature takes the square of a key's length; Go refuses longer ones in any certificate that is sent, too. */
const MAX_RSA_KEY_BITS = 8_192;

/**
 * Finds a chain from a leaf to one of the authorities that is good for a purpose: every certificate in it is within
 * its time, is signed by the next one, which is an authority and may sign for that deep a chain, and permits the
 * purpose (RFC 5280, section 6, as far as Go's `x509.Verify` goes).
 *
 * @param chain the leaf, and what else the peer has sent, in any order
 * @returns for how long the chain stays good
 * @throws when there is none; the message says why
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
 * Looks from the authorities down, so that a signature is only ever checked by the key of an authority, or of one that an
 * authority vouches for: a stranger may send certificates with keys of which each takes 20 ms.
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
   * The validity of the first good chain to a leaf; `undefined` when there is none.
   *
   * @param path what has been verified so far, the authority last
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

  /** `undefined` where a certificate may not stand where it does; the reason is kept for the error. */
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
  if (unknown) return `certificate has a critical extension that is not understood: ${unknown}`;
  if (path.length === 1) return undefined;
  return authorityError(certificate, constraints, path.slice(0, -1));
}

function authorityError(
  authority: X509Certificate,
  { pathLength, hasNameConstraints }: CertificateConstraints,
  below: readonly X509Certificate[],
): string | undefined {
  if (!authority.ca) return 'certificate is signed by one that is no authority';
  if (pathLength !== undefined && below.length - 1 > pathLength) return 'too many intermediates';
  const signed = below.map(constraintsOf);
  if (signed.some(({ signatureAlgorithm }) => BROKEN_ALGORITHMS.includes(signatureAlgorithm))) {
    return 'certificate is signed by an insecure algorithm';
  }
  // Names are not compared: whom constraints could keep out is kept out.
  const isConstrained = hasNameConstraints && signed.some(({ hasAlternativeNames }) => hasAlternativeNames);
  return isConstrained ? 'authority constrains names, and the certificate has some' : undefined;
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
