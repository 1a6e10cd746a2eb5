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
import { refuseExcessive } from './certificate-bounds.ts';

/** Of those that are decoded: a hundred usages. */
const MAX_EXTENSION_BYTES = 1024;

/** What a certificate restricts and Node does not tell of it (RFC 5280, section 4.2). */
export interface CertificateConstraints {
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

const READ = new WeakMap<object, CertificateConstraints>();

/** @throws when the certificate is laid out otherwise than RFC 5280 says */
export function constraintsOf(certificate: { readonly raw: Uint8Array }): CertificateConstraints {
  const known = READ.get(certificate);
  if (known) return known;
  const constraints = read(certificate.raw);
  READ.set(certificate, constraints);
  return constraints;
}

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
