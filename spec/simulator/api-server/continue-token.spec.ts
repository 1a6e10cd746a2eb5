import { expect } from 'chai';
import { readContinueToken, writeContinueToken } from '#simulator/api-server/continue-token.ts';
import { ApiError } from '#simulator/api-server/status.ts';

describe('writeContinueToken', () => {
  it('writes what the real server writes', () => {
    // As recorded from a kube-apiserver.
    expect(writeContinueToken(337, '/default/burner-7b8469d94f-8cdnt')).to.equal(
      'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MzM3LCJzdGFydCI6Ii9kZWZhdWx0L2J1cm5lci03Yjg0NjlkOTRmLThjZG50XHUwMDAwIn0',
    );
  });
});

describe('readContinueToken', () => {
  it('reads what was written', () => {
    expect(readContinueToken(writeContinueToken(7, '/a/b'))).to.deep.equal({
      resourceVersion: 7,
      start: '/a/b\0',
    });
  });

  it('refuses anything else', () => {
    const foreign = Buffer.from('{"v":"other"}').toString('base64url');
    for (const token of ['zzz', '', foreign]) {
      expect(() => readContinueToken(token), token)
        .to.throw(ApiError, /^invalid continue token: continue key is not valid/)
        .with.property('code', 400);
    }
  });
});
