import { expect } from 'chai';
import { failureText } from '#lib/collection/failure-text.ts';

describe('failureText', () => {
  it('is the error and its causes, on one line and without control characters', () => {
    const error = new Error('query of a', { cause: new Error('line 1\nline\u001b[2J 2\u202e') });
    expect(failureText(error)).to.equal('query of a: line 1\\nline\\u001b[2J 2\\u202e');
  });

  it('removes the user information of URLs', () => {
    const error = new Error('Cannot query http://ann:pass@a.example/x and //token@b/: see https://c/@d');
    expect(failureText(error)).to.equal('Cannot query http://…@a.example/x and //…@b/: see https://c/@d');
  });

  it('is 500 characters at most, and none of them is half of one', () => {
    expect(failureText(new Error('a'.repeat(500)))).to.equal('a'.repeat(500));
    const cut = failureText(new Error(`${'a'.repeat(498)}😀${'b'.repeat(1_000_000)}`));
    expect(cut).to.have.length(500);
    expect(cut.isWellFormed()).to.equal(true);
    expect(failureText(new Error('//'.repeat(500_000)))).to.have.length(500);
  });
});
