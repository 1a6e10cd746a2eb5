import { expect } from 'chai';
import fc from 'fast-check';
import { splitLines } from '#lib/kubernetes/client/split-lines.ts';

describe('splitLines', () => {
  it('gives the same lines however the bytes are cut', async () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat({ max: 20 })), async (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        expect(await read(chunksOf(bytes, cuts), 1000)).to.deep.equal(lines.filter((text) => text !== ''));
      }),
    );
  });

  it('refuses a line that is too long, complete or not', async () => {
    for (const text of ['12345\n', '12345']) {
      const error = await read([Buffer.from(text)], 4).catch((reason: unknown) => reason);
      expect(error).to.have.property('message', 'a line is longer than 4 bytes');
    }
  });

  it('refuses to end within a line', async () => {
    const error = await read([Buffer.from('1\n2')], 4).catch((reason: unknown) => reason);
    expect(error).to.have.property('message', 'the stream ended within a line');
  });
});

async function read(chunks: readonly Uint8Array[], maxLineBytes: number): Promise<string[]> {
  async function* stream() {
    yield* chunks;
  }
  return await Array.fromAsync(splitLines(stream(), maxLineBytes));
}

function chunksOf(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let start = 0;
  for (const length of cuts) {
    chunks.push(bytes.subarray(start, start + length));
    start += length;
  }
  return [...chunks, bytes.subarray(start)];
}
