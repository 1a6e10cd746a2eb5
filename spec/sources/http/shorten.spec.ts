import { expect } from 'chai';
import { shorten } from '#lib/sources/http/shorten.ts';

describe('shorten', () => {
  it('shows a query on one line, of up to 200 characters', () => {
    expect(shorten('from(b)\r\n\t|> last()')).to.equal('from(b)   |> last()');
    expect(shorten('a'.repeat(200))).to.equal('a'.repeat(200));
    expect(shorten('a'.repeat(201))).to.equal(`${'a'.repeat(200)}…`);
  });
});
