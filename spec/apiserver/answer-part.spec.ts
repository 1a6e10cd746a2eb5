import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { type AnswerPart, bodyOf, gzipParts } from '#lib/apiserver/answer-part.ts';
import { deflate } from '#lib/apiserver/encoding/deflated.ts';

const texts = fc.oneof(
  fc.string().map((text) => Buffer.from(text)),
  fc.integer({ min: 600, max: 100_000 }).map((length) => Buffer.alloc(length, 'some text ')),
);
const parts = fc.array(
  fc
    .tuple(texts, fc.boolean())
    .map(
      ([bytes, isShared]): AnswerPart => (isShared ? { bytes, deflated: () => deflate([bytes]) } : { bytes }),
    ),
  { maxLength: 6 },
);

describe('gzipParts', () => {
  it('makes one gzip file of all parts, those that others have, too, and those that are of this one alone', async () => {
    await fc.assert(
      fc.asyncProperty(parts, async (all) => {
        const compressed = Buffer.concat(await gzipParts(all));
        expect(gunzipSync(compressed).equals(Buffer.concat(all.map(({ bytes }) => bytes)))).to.equal(true);
      }),
    );
  });

  it('compresses as much together as it can', async () => {
    const many = Array.from({ length: 2_000 }, () => ({ bytes: Buffer.from('the same short text') }));
    expect(Buffer.concat(await gzipParts(many)).length).to.be.below(1_000);
  });
});

describe('bodyOf', () => {
  it('puts together what is short, and leaves long bodies in pieces that are none too long', async () => {
    const short = bodyOf([Buffer.from('ab'), Buffer.from('c')]);
    expect(short).to.deep.equal({ body: Buffer.from('abc'), length: 3 });
    const long = [Buffer.alloc(700_000, 1), Buffer.alloc(0), Buffer.alloc(400_000, 2)];
    const { body, length } = bodyOf(long);
    const pieces: Buffer[] = await Array.fromAsync(body as AsyncIterable<Buffer>);
    expect(length).to.equal(1_100_000);
    expect(Buffer.concat(pieces).equals(Buffer.concat(long))).to.equal(true);
    expect(Math.max(...pieces.map((piece) => piece.length))).to.be.at.most(256 * 1024);
  });
});
