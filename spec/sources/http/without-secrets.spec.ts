import { expect } from 'chai';
import fc from 'fast-check';
import { textWithoutSecrets, withoutSecrets } from '#lib/sources/http/without-secrets.ts';

const textOf = (body: string, authorization?: string) =>
  withoutSecrets(Buffer.from(body), { authorization }).toString();

describe('withoutSecrets', () => {
  it('leaves out a token wherever it stands', () => {
    expect(textOf('abcdefgh: abcdefghabcdefgh no', 'Bearer abcdefgh')).to.equal('…: …… no');
    expect(textOf('is it abcdefgh', 'Token abcdefgh')).to.equal('is it …');
  });

  it('leaves out user and password, plain and encoded', () => {
    const encoded = Buffer.from('me:secret').toString('base64');
    expect(textOf(`${encoded} (me:secret)`, `Basic ${encoded}`)).to.equal('… (…)');
  });

  it('leaves out the password alone', () => {
    const encoded = Buffer.from('me:very:secret').toString('base64');
    expect(textOf('is it very:secret', `Basic ${encoded}`)).to.equal('is it …');
  });

  it('leaves all else as it is, be it without credentials or with a token that stands in anything', () => {
    const body = Buffer.from('no 1 has seen 1');
    for (const authorization of [undefined, '', 'Bearer', 'Bearer 1', 'Bearer nothing-like-it'])
      expect(withoutSecrets(body, { authorization })).to.equal(body);
  });

  it('leaves no whole token in any body', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 8, maxLength: 9 });
    const bodies = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 200 });
    fc.assert(
      fc.property(letters, bodies, (token, body) => {
        expect(textOf(body, `Bearer ${token}`)).not.to.include(token);
      }),
    );
  });
});

describe('textWithoutSecrets', () => {
  it('leaves out what is long enough to be told from anything else', () => {
    expect(
      textWithoutSecrets('a abcdefgh b ijklmnop $& ', ['a', undefined, 'abcdefgh', 'ijklmnop']),
    ).to.equal('a … b … $& ');
  });
});
