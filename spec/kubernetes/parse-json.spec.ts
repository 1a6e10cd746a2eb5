import { expect } from 'chai';
import { parseJson } from '#lib/kubernetes/parse-json.ts';

describe('parseJson', () => {
  it('reads JSON, and gives nothing for a text that is none', () => {
    expect(parseJson('{"a":[1,null]}')).to.deep.equal({ a: [1, null] });
    for (const text of ['', '{', 'a', '{"a":1}\n{}']) expect(parseJson(text), text).to.equal(undefined);
  });
});
