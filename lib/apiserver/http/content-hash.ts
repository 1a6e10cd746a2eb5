import { createHash } from 'node:crypto';

/** The hash by which Kubernetes' servers name a version of a document: SHA-512 in upper case. */
export function contentHash(content: string | Buffer): string {
  return createHash('sha512').update(content).digest('hex').toUpperCase();
}
