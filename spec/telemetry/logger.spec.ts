import { expect } from 'chai';
import { describeError } from '#lib/telemetry/error-text.ts';

describe('describeError', () => {
  it('joins the messages of an error and its causes, each once', () => {
    const error = new Error('Cannot scrape: refused', {
      cause: new Error('refused', { cause: new Error('why') }),
    });
    expect(describeError(error)).to.equal('Cannot scrape: refused: why');
  });

  it('takes what is thrown but is no error', () => {
    expect(describeError('text')).to.equal('text');
    expect(describeError(new Error(''))).to.equal('Error');
  });

  it('ends at a circle of causes', () => {
    const error = new Error('a');
    error.cause = error;
    expect(describeError(error)).to.equal('a');
  });
});
