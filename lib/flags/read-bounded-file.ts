import { createReadStream } from 'node:fs';

/**
 * Reads a file that a flag names, as text.
 *
 * @throws {Error} without the path, if the file is missing, is a directory, or has more than `maxBytes`
 */
export async function readBoundedFile(path: string, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of createReadStream(path, { end: maxBytes })) {
    parts.push(part);
    length += part.length;
  }
  if (length > maxBytes) throw new Error(`longer than ${maxBytes} bytes`);
  return Buffer.concat(parts).toString('utf8');
}
