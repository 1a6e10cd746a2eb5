import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Finding, ok } from '#lib/doctor/finding.ts';
import { failed } from './diagnoses.ts';
import type { DoctorContext } from './doctor-context.ts';

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Compares the CA by which the API server verifies us with the certificate that we serve with. */
export async function compareCaBundle(context: DoctorContext, caPem: string): Promise<readonly Finding[]> {
  const { options, doctor, clock } = context;
  const { certFile, certDir } = options.serving;
  const path = certFile ?? join(certDir, 'apiserver.crt');
  const pem = await readFile(path, 'utf8').catch(() => undefined); // absent: said below
  const [leaf, ...others] = certificatesIn(pem ?? '');
  const subject = 'serving certificate';
  if (!leaf) {
    const seen = `there is none at ${path} to compare the caBundle with: run the doctor with the --tls-cert-file of the server`;
    return [{ status: 'unchecked', subject, seen }];
  }
  const findings: Finding[] = [];
  const [namespace = '', name = ''] = doctor.service.split('/');
  const host = `${name}.${namespace}.svc`;
  const authorities = certificatesIn(caPem);
  if (!isVerifiedBy([leaf, ...others], authorities)) {
    const seen = `issued by ${oneLine(leaf.issuer)}; the caBundle has ${authorities.map((one) => oneLine(one.subject)).join(', ')}`;
    findings.push(failed(subject, seen, { diagnosis: 'api-service-ca-mismatch' }));
  }
  if (leaf.checkHost(host) === undefined) {
    const seen = `made out to ${leaf.subjectAltName ?? 'no name'}, not to ${host}`;
    findings.push(failed(subject, seen, { diagnosis: 'serving-certificate-names', HOST: host }));
  }
  const until = leaf.validToDate.toISOString();
  if (leaf.validToDate.getTime() < clock.nowMs()) {
    findings.push(failed(subject, `expired at ${until}`, { diagnosis: 'serving-certificate-expired' }));
  }
  return findings.length > 0
    ? findings
    : [ok(subject, `for ${host}, verified by the caBundle, valid until ${until}`)];
}

/** Whether one of the authorities is, or has signed, one of the chain's certificates, from the leaf up. */
function isVerifiedBy(
  [leaf, ...others]: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): boolean {
  if (!leaf) return false;
  const isAnchored = authorities.some(
    (authority) => leaf.fingerprint256 === authority.fingerprint256 || isSignedBy(leaf, authority),
  );
  if (isAnchored) return true;
  const issuer = others.find((other) => isSignedBy(leaf, other));
  return (
    issuer !== undefined && isVerifiedBy([issuer, ...others.filter((other) => other !== issuer)], authorities)
  );
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function certificatesIn(pem: string): readonly X509Certificate[] {
  return (pem.match(PEM_BLOCK) ?? []).map((block) => new X509Certificate(block));
}

function oneLine(name: string): string {
  return name.replaceAll('\n', ', ');
}
