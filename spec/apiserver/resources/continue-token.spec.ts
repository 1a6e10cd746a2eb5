import { expect } from 'chai';
import fc from 'fast-check';
import {
  formatContinueToken,
  isBehind,
  parseContinueToken,
} from '#lib/apiserver/resources/continue-token.ts';

describe('parseContinueToken', () => {
  it('reads what was written, and tokens can stand in an address', () => {
    const part = fc.stringMatching(/^[a-z0-9.-]{1,20}$/);
    fc.assert(
      fc.property(fc.option(part, { nil: '' }), part, (namespace, name) => {
        const token = formatContinueToken({ namespace, name });
        expect(token).to.match(/^[\w-]+$/);
        expect(parseContinueToken(token)).to.deep.equal({ namespace, name });
      }),
    );
  });

  const encode = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url');
  const malformed = [
    'abc',
    '%%%',
    encode(null),
    encode('n/a'),
    encode({ v: 'meta.k8s.io/v1' }),
    encode({ v: 'meta.k8s.io/v2', start: 'n/a' }),
    encode({ v: 'meta.k8s.io/v1', start: 'a' }),
    encode({ v: 'meta.k8s.io/v1', start: 'n/' }),
    encode({ v: 'meta.k8s.io/v1', start: 'n/a/b' }),
  ];
  for (const token of malformed) {
    it(`refuses ${Buffer.from(token, 'base64url').toString()}`, () => {
      expect(() => parseContinueToken(token))
        .to.throw('invalid continue token: continue key is not valid')
        .that.includes({ code: 400, reason: 'BadRequest' });
    });
  }
});

describe('isBehind', () => {
  it('goes by namespace, then by name', () => {
    const position = { namespace: 'm', name: 'b' };
    const of = (namespace: string | undefined, name: string) => isBehind({ namespace, name }, position);
    expect([of('m', 'c'), of('n', 'a'), of('m-2', 'a')]).to.deep.equal([true, true, true]);
    expect([of('m', 'b'), of('m', 'a'), of('l', 'c'), of(undefined, 'c')]).to.deep.equal([
      false,
      false,
      false,
      false,
    ]);
  });
});
