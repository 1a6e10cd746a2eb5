import { expect } from 'chai';
import { collectSecrets } from '#lib/sources/http/http-credentials.ts';

describe('collectSecrets', () => {
  it('redacts a token', () => {
    expect(collectSecrets({ authorization: 'Bearer abcdefghi' }).redact('is it Bearer abcdefghi?')).to.equal(
      'is it Bearer …?',
    );
  });

  it('redacts a login in encoded and plain form, and the password alone', () => {
    const word = Buffer.from('annabell:pass:word').toString('base64');
    const secrets = collectSecrets({ authorization: `Basic ${word}` });
    expect(secrets.redact(`annabell ${word} annabell:pass:word pass:word`)).to.equal('annabell … … …');
  });

  it('redacts nothing without credentials', () => {
    expect(collectSecrets({}).redact('Basic and Bearer undefined')).to.equal('Basic and Bearer undefined');
  });
});
