import { X509Certificate } from 'node:crypto';

/** Certificate authorities that are believed, as of one moment. */
export interface CaBundle {
  readonly certificates: readonly X509Certificate[];
}

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads authorities from PEM; text between the certificates is allowed.
 *
 * @throws when there is none, or one cannot be read
 */
export function parseCaBundle(pem: string): CaBundle {
  const blocks = pem.match(PEM_BLOCK) ?? [];
  if (blocks.length === 0) throw new Error('Cannot read certificate authorities: there is no certificate');
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
