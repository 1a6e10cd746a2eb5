import { X509Certificate } from 'node:crypto';

/**
 * The authorities that a server may have its certificate of, as they were given; blank where none were.
 *
 * @throws where there is no certificate in them: TLS would pass over them in silence, and trust the system's alone
 */
export function authorityIn(ca: string | undefined): string | undefined {
  if (ca === undefined || ca.trim() === '') return ca;
  try {
    new X509Certificate(ca);
    return ca;
  } catch {
    throw new Error('parameter "ca" holds no certificate in PEM');
  }
}
