import { readFile } from 'node:fs/promises';

/**
 * Reads a token, a certificate, a key or authorities. An empty file is none of them but one that is being written: without a token
 * we would be anonymous, and without authorities trust all that the system does.
 *
 * @throws when the file cannot be read or is empty, naming it
 */
export async function loadCredentialFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  if (text.trim() === '') throw new Error(`the file ${path} is empty`);
  return text;
}
