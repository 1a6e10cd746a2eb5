import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { constraintsOf } from '#lib/apiserver/access/certificate-chain.ts';
import {
  BASIC_CONSTRAINTS,
  certificateWith,
  DER_TAGS,
  der,
  EXTENDED_KEY_USAGE,
} from '#spec/support/hostile-certificates.ts';

const MAX_CERTIFICATE_BYTES = 16 * 1024;

const { boolean, identifier, integer, octets, sequence } = DER_TAGS;

describe('constraintsOf', () => {
  it('reads usages and the length of the path', () => {
    const raw = certificateWith([
      [EXTENDED_KEY_USAGE, der(sequence, der(identifier, Buffer.from('2b06010505070302', 'hex')))],
      [BASIC_CONSTRAINTS, der(sequence, der(boolean, Buffer.from([0xff])), der(integer, Buffer.from([3])))],
    ]);
    expect(constraintsOf({ raw })).to.deep.include({
      extendedKeyUsages: ['1.3.6.1.5.5.7.3.2'],
      pathLength: 3,
    });
  });

  // OpenSSL accepts all of these, and none of them needs a valid signature.
  for (const [what, raw, complaint] of [
    ['an identifier of ten thousand parts', usage(Buffer.alloc(10_000, 0x2a)), 'more than 1024 bytes'],
    ['one of some hundreds', usage(Buffer.alloc(500, 0x2a)), 'an object identifier of more than 64 bytes'],
    ['a path of astronomical length', pathLength(Buffer.alloc(10_000, 0x7f)), 'more than 1024 bytes'],
    [
      'endless length',
      certificateWith([['1.2.3.4', Buffer.alloc(MAX_CERTIFICATE_BYTES)]]),
      'more than 16384 bytes',
    ],
  ] as const) {
    it(`refuses ${what} before it is decoded`, () => {
      expect(() => new X509Certificate(raw)).not.to.throw();
      expect(() => constraintsOf({ raw })).to.throw(`certificate has ${complaint}`);
    });
  }

  it('ignores the content of unknown extensions', () => {
    const nested = Array.from({ length: 3_000 }).reduce(
      (inner: Uint8Array) => der(octets, inner),
      Buffer.alloc(0),
    );
    expect(constraintsOf({ raw: certificateWith([['1.2.3.4', nested]]) }).unknownCritical).to.deep.equal([]);
  });
});

function usage(id: Uint8Array): Buffer {
  return certificateWith([[EXTENDED_KEY_USAGE, der(sequence, der(identifier, id))]]);
}

function pathLength(length: Uint8Array): Buffer {
  const isAuthority = der(boolean, Buffer.from([0xff]));
  return certificateWith([[BASIC_CONSTRAINTS, der(sequence, isAuthority, der(integer, length))]]);
}
