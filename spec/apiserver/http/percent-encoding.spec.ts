import { expect } from 'chai';
import fc from 'fast-check';
import { percentDecode } from '#lib/apiserver/http/percent-encoding.ts';

describe('percentDecode', () => {
  it('undoes the encoding of every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(text.isWellFormed());
        expect(percentDecode(encodeURIComponent(text))).to.equal(text);
      }),
    );
  });

  it('reads bytes that are no UTF-8', () => expect(percentDecode('a%ffb')).to.equal('a\ufffdb'));

  it('refuses a percent sign without digits', () => {
    for (const text of ['%', '%4', '%zz', 'a%2gb']) expect(percentDecode(text), text).to.equal(undefined);
  });
});
