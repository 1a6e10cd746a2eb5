import { expect } from 'chai';
import { describeError } from '#lib/telemetry/error-text.ts';

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
