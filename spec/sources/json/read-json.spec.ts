import { expect } from 'chai';
import fc from 'fast-check';
import { readBoundedJson } from '#lib/sources/json/read-json.ts';

describe('readBoundedJson', () => {
  it('reads what JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(readBoundedJson(Buffer.from(text))).to.deep.equal(JSON.parse(text));
      }),
    );
  });

  it('ignores brackets within strings', () => {
    const text = `"${'[{\\"\\\\,'.repeat(1000)}"`;
    expect(readBoundedJson(Buffer.from(text))).to.equal(JSON.parse(text));
  });

  it('reads up to its bounds', () => {
    readBoundedJson(Buffer.from(`${'['.repeat(128)}${']'.repeat(128)}`));
    readBoundedJson(Buffer.from(`[${'1,'.repeat(99_999)}1]`));
    readBoundedJson(Buffer.from(`[${'[],'.repeat(300)}{}]`));
    expect(readBoundedJson(Buffer.from('[1,2]'), 2)).to.deep.equal([1, 2]);
  });

  const refused: readonly (readonly [string, string | Buffer, string])[] = [
    ['deep nesting', '['.repeat(1_000_000), 'the response is nested deeper than 128 levels'],
    ['objects within objects', '{"a":'.repeat(200), 'the response is nested deeper than 128 levels'],
    ['many values', `[${'{},'.repeat(80_000)}{}]`, 'the response has more than 100000 values'],
    ['many numbers', `[${'1,'.repeat(100_000)}1]`, 'the response has more than 100000 values'],
    ['no JSON', '<html>', 'the response is not valid JSON'],
    ['nothing', '', 'the response is not valid JSON'],
    ['half of it', '{"a":', 'the response is not valid JSON'],
    ['NaN', '{"a":NaN}', 'the response is not valid JSON'],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'the response is not valid JSON'],
  ];
  for (const [what, body, error] of refused)
    it(`refuses ${what}`, () => {
      expect(() => readBoundedJson(Buffer.from(body))).to.throw(Error, error);
    });
});
