import type { X509Certificate } from 'node:crypto';
import { propertyOf } from '#lib/kubernetes/object-metadata.ts';

/** The common name of a certificate's subject; the last one where there are several, as in Go. */
export function commonNameOf(certificate: X509Certificate): string {
  return subjectValues(certificate, 'CN').at(-1) ?? '';
}

/** The organizations of a certificate's subject. */
export function organizationsOf(certificate: X509Certificate): readonly string[] {
  return subjectValues(certificate, 'O');
}

/** A connection's certificate is asked for its subject with every request, and reading it takes long. */
const SUBJECTS = new WeakMap<X509Certificate, object>();

function subjectOf(certificate: X509Certificate): object {
  let subject = SUBJECTS.get(certificate);
  if (!subject) {
    subject = certificate.toLegacyObject().subject ?? {};
    SUBJECTS.set(certificate, subject);
  }
  return subject;
}

function subjectValues(certificate: X509Certificate, attribute: string): readonly string[] {
  const subject = subjectOf(certificate);
  const values: unknown = propertyOf(subject, attribute) ?? [];
  return [values].flat().filter((value) => typeof value === 'string');
}
