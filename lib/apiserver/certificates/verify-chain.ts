import type { X509Certificate } from 'node:crypto';
import type { CaBundle } from './ca-bundle.ts';
import { type CertificateConstraints, constraintsOf } from './certificate-constraints.ts';

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
