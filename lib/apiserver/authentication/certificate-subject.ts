import type { X509Certificate } from 'node:crypto';

/** The common name of a certificate's subject; the last one where there are several, as in Go. */
export function commonNameOf(certificate: X509Certificate): string {
  return subjectValues(certificate, 'CN').at(-1) ?? '';
}

/** The organizations of a certificate's subject. */
export function organizationsOf(certificate: X509Certificate): readonly string[] {
  return subjectValues(certificate, 'O');
}

function subjectValues(certificate: X509Certificate, attribute: string): readonly string[] {
  const subject: object = certificate.toLegacyObject().subject ?? {};
  const values: unknown = Object.hasOwn(subject, attribute) ? Reflect.get(subject, attribute) : [];
  return [values].flat().filter((value) => typeof value === 'string');
}
