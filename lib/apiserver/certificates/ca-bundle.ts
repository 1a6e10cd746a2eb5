import { X509Certificate } from 'node:crypto';

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
