import { expect } from 'chai';
import { secretsIn } from '#lib/sources/http/http-credentials.ts';

describe('secretsIn', () => {
  it('knows a token by itself', () => {
    expect(secretsIn({ authorization: 'Bearer abcdefghi' }).tell('is it Bearer abcdefghi?')).to.equal(
      'is it Bearer …?',
    );
  });

  it('knows a login as it is sent and as it is meant, and the password alone', () => {
    const word = Buffer.from('annabell:pass:word').toString('base64');
    const secrets = secretsIn({ authorization: `Basic ${word}` });
    expect(secrets.tell(`annabell ${word} annabell:pass:word pass:word`)).to.equal('annabell … … …');
  });

  it('knows nothing of who shows nothing', () => {
    expect(secretsIn({}).tell('Basic and Bearer undefined')).to.equal('Basic and Bearer undefined');
  });
});
