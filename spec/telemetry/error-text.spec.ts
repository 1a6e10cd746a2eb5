import { expect } from 'chai';
import { codeOf, describeError, messageOf, toError } from '#lib/telemetry/error-text.ts';

describe('describeError', () => {
  it('joins the messages of an error and its causes without repetition', () => {
    const error = new Error('Cannot scrape: refused', {
      cause: new Error('refused', { cause: new Error('why') }),
    });
    expect(describeError(error)).to.equal('Cannot scrape: refused: why');
  });

  it('describes thrown values that are not errors', () => {
    expect(describeError('text')).to.equal('text');
    expect(describeError(new Error(''))).to.equal('Error');
  });

  it('stops at a circular chain of causes', () => {
    const error = new Error('a');
    error.cause = error;
    expect(describeError(error)).to.equal('a');
  });
});

describe('messageOf', () => {
  it('is the message of an Error without its causes, and the text of anything else', () => {
    expect(messageOf(new Error('outer', { cause: new Error('inner') }))).to.equal('outer');
    expect([messageOf('thrown'), messageOf(undefined)]).to.deep.equal(['thrown', 'undefined']);
  });
});

describe('toError', () => {
  it('returns an Error as it is, and wraps anything else', () => {
    const error = new TypeError('outer');
    expect(toError(error)).to.equal(error);
    expect(toError('thrown')).to.be.instanceOf(Error).with.property('message', 'thrown');
  });
});

describe('codeOf', () => {
  it('is the code of an Error as a text, where it has one', () => {
    expect(codeOf(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))).to.equal('ECONNREFUSED');
    expect(codeOf(Object.assign(new Error('no'), { code: 14 }))).to.equal('14');
    expect([codeOf(new Error('no')), codeOf({ code: 'x' }), codeOf(undefined)]).to.deep.equal([
      ...[undefined, undefined, undefined],
    ]);
  });
});
