import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServingCertificate } from './baseline-server.ts';

/** Reads the serving certificate from a server's `--cert-dir`, so that the baseline's handshakes have the same cost. */
export async function readServingCertificate(folder: string): Promise<ServingCertificate> {
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  return { cert: await read('apiserver.crt'), key: await read('apiserver.key') };
}
