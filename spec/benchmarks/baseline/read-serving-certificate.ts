import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServingCertificate } from './baseline-server.ts';

/** What a server has made to serve with, of its `--cert-dir`: the baseline is to have the same handshakes. */
export async function readServingCertificate(folder: string): Promise<ServingCertificate> {
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  return { cert: await read('apiserver.crt'), key: await read('apiserver.key') };
}
