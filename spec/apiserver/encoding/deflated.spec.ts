import { crc32, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { deflate, store } from '#lib/apiserver/encoding/deflated.ts';
import { gzipMember } from '#lib/apiserver/encoding/gzip-member.ts';

describe('deflate', () => {
  it('tells checksum and length of the text, whatever pieces it came in', async () => {
    const whole = Buffer.from('some text, some text');
    const { crc32: checksum, length } = await deflate([whole.subarray(0, 7), whole.subarray(7)]);
    expect({ checksum, length }).to.deep.equal({ checksum: crc32(whole), length: whole.length });
  });

  it('holds no chunk of its own for a short result, of which many are kept', async () => {
    const { bytes } = await deflate([Buffer.alloc(300_000, 'some text ')]);
    expect(bytes.length).to.be.below(10_000);
    expect(bytes.buffer.byteLength).to.be.at.most(Buffer.poolSize); // which short buffers share
  });
});

describe('store', () => {
  it('gives whole blocks that can stand between others', async () => {
    const [stored, deflated] = [store(Buffer.from('short, ')), await deflate([Buffer.from('and the rest')])];
    const member = Buffer.concat(gzipMember([stored, deflated, stored]));
    expect(gunzipSync(member).toString()).to.equal('short, and the restshort, ');
  });
});
