import { readFile } from 'node:fs/promises';

/**
 * Reads a token, a certificate, a key or authorities. An empty file is none of them but one that is being written: without a token
 * we would be anonymous, and without authorities trust all that the system does. Of authorities that are cut off in the middle TLS
 * would believe none, and say nothing.
 *
 * @throws when the file cannot be read, is empty or cut off, naming it
 */
export async function loadCredentialFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  if (text.trim() === '') throw new Error(`the file ${path} is empty`);
  if (isCutOff(text)) throw new Error(`the file ${path} ends in the middle of a certificate or key`);
  return text;
}

/** Whether more PEM blocks begin than end. */
function isCutOff(text: string): boolean {
  const [begun, ended] = [/^-----B/gm, /^-----END [A-Z0-9 ]+-----/gm].map(
    (line) => text.match(line)?.length ?? 0,
  );
  return begun !== ended;
}
