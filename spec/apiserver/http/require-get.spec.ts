import { expect } from 'chai';
import { canConsume, canProduce } from '#lib/apiserver/http/require-get.ts';

const TYPES = ['application/json', 'application/yaml'];

describe('canProduce', () => {
  it('takes any mention of a type that is produced, whatever its quality and parameters', () => {
    expect(canProduce('text/html, application/yaml;q=0;as=Table', TYPES)).to.equal(true);
    expect(canProduce('', TYPES)).to.equal(true);
    expect(canProduce('*/*;q=0.1', TYPES)).to.equal(true);
  });

  it('does not know half wildcards', () => {
    expect(canProduce('application/*', TYPES)).to.equal(false);
    expect(canProduce('text/html', TYPES)).to.equal(false);
  });
});

describe('canConsume', () => {
  it('takes requests without a body, and what is consumed', () => {
    expect(canConsume('', TYPES)).to.equal(true);
    expect(canConsume('application/json; charset=utf-8', TYPES)).to.equal(true);
    expect(canConsume('text/html', TYPES)).to.equal(false);
    expect(canConsume('text/html', ['*/*'])).to.equal(true);
    expect(canConsume('*/*', TYPES)).to.equal(false);
  });
});
