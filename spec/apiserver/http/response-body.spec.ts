import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { gzip, sentBody } from '#lib/apiserver/http/response-body.ts';

/** Exceeds the size that is compressed at once, and compression does not shorten it. */
const incompressible = randomBytes(600_000);
const texts = fc.oneof(
  fc.string().map((text) => Buffer.from(text)),
  fc.integer({ min: 600, max: 600_000 }).map((length) => Buffer.alloc(length, 'some text ')),
  fc.integer({ min: 600, max: 600_000 }).map((length) => incompressible.subarray(0, length)),
);

describe('gzip', () => {
  it('makes one gzip file of all pieces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { maxLength: 6 }), async (pieces) => {
        const compressed = Buffer.concat(await gzip(pieces));
        expect(gunzipSync(compressed).equals(Buffer.concat(pieces))).to.equal(true);
      }),
    );
  });

  it('compresses all of them together', async () => {
    const many = Array.from({ length: 2_000 }, () => Buffer.from('the same short text'));
    expect(Buffer.concat(await gzip(many)).length).to.be.below(1_000);
  });
});

describe('sentBody', () => {
  const lengths = fc.array(fc.oneof(fc.nat(100), fc.nat(40_000), fc.nat(700_000)), { maxLength: 30 });

  it('concatenates short pieces', () => {
    const short = sentBody([Buffer.from('ab'), Buffer.from('c')]);
    expect(short).to.deep.equal({ body: Buffer.from('abc'), length: 3 });
  });

  it('returns all pieces in order, none too long, and none empty', async () => {
    await fc.assert(
      fc.asyncProperty(lengths, async (all) => {
        const pieces = all.map((length, index) => Buffer.alloc(length, index));
        const whole = Buffer.concat(pieces);
        const { body, length } = sentBody(pieces);
        const written: Buffer[] = body instanceof Readable ? await body.toArray() : [body];
        expect(length).to.equal(whole.length);
        expect(Buffer.concat(written).equals(whole)).to.equal(true);
        expect(body instanceof Readable).to.equal(length >= 1024 * 1024);
        if (!(body instanceof Readable)) return;
        expect(Math.max(...written.map((piece) => piece.length))).to.be.at.most(256 * 1024);
        expect(Math.min(...written.map((piece) => piece.length))).to.be.above(0);
      }),
    );
  });

  it('writes many short pieces as few longer ones', async () => {
    const pieces = Array.from({ length: 100_000 }, () => Buffer.alloc(20, 'a'));
    const { body } = sentBody(pieces);
    expect(await (body as Readable).toArray()).to.have.lengthOf(8);
  });
});
