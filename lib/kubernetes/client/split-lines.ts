import { MalformedResponse } from './malformed-response.ts';

const NEWLINE = 0x0a;

/**
 * Cuts a byte stream into its lines, decoded as UTF-8; empty ones are left out.
 *
 * @throws {MalformedResponse} when a line is longer than `maxLineBytes`; an Error when the stream ends within one
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<string, void, void> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, end));
      pendingBytes += end - start;
      if (pendingBytes > maxLineBytes) throw tooLong(maxLineBytes);
      if (pendingBytes > 0) yield Buffer.concat(pending, pendingBytes).toString('utf8');
      pending = [];
      pendingBytes = 0;
      start = end + 1;
    }
    pending.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    if (pendingBytes > maxLineBytes) throw tooLong(maxLineBytes);
  }
  if (pendingBytes > 0) throw new Error('the stream ended within a line');
}

function tooLong(maxLineBytes: number): MalformedResponse {
  return new MalformedResponse(`a line is longer than ${maxLineBytes} bytes`);
}
