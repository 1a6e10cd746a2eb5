import { X509Certificate } from 'node:crypto';

/**
 * The certificates in PEM, with any text between them; none where there is none.
 *
 * @throws for a block that is not a certificate
 */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** A subject or issuer on one line: Node separates its attributes by line feeds. */
export function oneLine(name: string): string {
  return name.replaceAll('\n', ', ');
}
